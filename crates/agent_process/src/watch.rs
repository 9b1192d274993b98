//! `Watch`: file change notifications. All watches of a runtime share one inotify instance, since the system allows a
//! user only 128 of them by default.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;

/// A watch on one file. Ends when dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    changes: Arc<Notify>,
    #[cfg(target_os = "linux")]
    registration: Option<linux::Registration>,
}

impl Watch {
    /// Watches `path`. Where the system cannot, or outside a runtime, [`Self::changed`] never returns and the caller
    /// has to poll.
    pub(crate) fn new(path: &Path) -> Self {
        let changes = Arc::new(Notify::new());
        #[cfg(target_os = "linux")]
        return Self {
            registration: linux::register(path, &changes),
            changes,
        };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            Self { changes }
        }
    }

    /// Waits for a change since the last call.
    pub(crate) async fn changed(&self) {
        self.changes.notified().await;
    }

    /// Whether the system sends notifications for this file.
    pub(crate) fn is_told(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.registration.is_some();
        #[cfg(not(target_os = "linux"))]
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use tokio::io::unix::AsyncFd;
    use tokio::runtime::{Handle, Id};
    use tokio::sync::Notify;
    use tokio::task::AbortHandle;

    type Interests = HashMap<i32, Vec<Arc<Notify>>>;

    /// One inotify instance and its watchers.
    #[derive(Debug)]
    struct Hub {
        descriptor: Arc<AsyncFd<OwnedFd>>,
        interests: Arc<Mutex<Interests>>,
        listener: AbortHandle,
    }

    #[derive(Debug)]
    pub(super) struct Registration {
        hub: Arc<Hub>,
        watch: i32,
        changes: Arc<Notify>,
    }

    /// One hub per runtime, so that tasks are woken from within their own runtime. A hub stays open as long as its
    /// runtime, since closing an inotify instance takes the system up to 20 ms.
    static HUBS: Mutex<Option<HashMap<Id, Arc<Hub>>>> = Mutex::new(None);

    fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hub() -> Option<Arc<Hub>> {
        let runtime = Handle::try_current().ok()?;
        let mut hubs = locked(&HUBS);
        let hubs = hubs.get_or_insert_default();
        hubs.retain(|_, hub| !hub.listener.is_finished());
        if let Some(hub) = hubs.get(&runtime.id()) {
            return Some(Arc::clone(hub));
        }
        let descriptor = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let descriptor = Arc::new(crate::streams::register_readable(descriptor).ok()?);
        let interests = Arc::default();
        let listening = listen(Arc::clone(&descriptor), Arc::clone(&interests));
        let listener = runtime.spawn(listening).abort_handle();
        let hub = Arc::new(Hub {
            descriptor,
            interests,
            listener,
        });
        hubs.insert(runtime.id(), Arc::clone(&hub));
        Some(hub)
    }

    pub(super) fn register(path: &Path, changes: &Arc<Notify>) -> Option<Registration> {
        let hub = hub()?;
        let watch = {
            // Locked over both steps, so that no event arrives for an unknown watch.
            let mut interests = locked(&hub.interests);
            let flags = WatchFlags::MODIFY | WatchFlags::ATTRIB;
            let watch = inotify::add_watch(hub.descriptor.get_ref(), path, flags).ok()?;
            interests.entry(watch).or_default().push(Arc::clone(changes));
            watch
        };
        Some(Registration {
            hub,
            watch,
            changes: Arc::clone(changes),
        })
    }

    impl Drop for Registration {
        fn drop(&mut self) {
            let mut interests = locked(&self.hub.interests);
            let Some(interested) = interests.get_mut(&self.watch) else {
                return;
            };
            interested.retain(|changes| !Arc::ptr_eq(changes, &self.changes));
            if interested.is_empty() {
                interests.remove(&self.watch);
                let _ = inotify::remove_watch(self.hub.descriptor.get_ref(), self.watch);
            }
        }
    }

    /// Runs until the hub or the runtime is gone.
    async fn listen(descriptor: Arc<AsyncFd<OwnedFd>>, interests: Arc<Mutex<Interests>>) {
        while let Ok(mut ready) = descriptor.readable().await {
            match ready.try_io(|descriptor| pass_on(descriptor.get_ref(), &interests)) {
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(_)) => return,
            }
        }
    }

    /// Notifies the watchers of all pending events. Always ends with an error, usually `WouldBlock`.
    fn pass_on(descriptor: &OwnedFd, interests: &Mutex<Interests>) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(descriptor, &mut space);
        loop {
            let event = events.next()?;
            let interests = locked(interests);
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                // Events were dropped, so every file may have changed.
                interests
                    .values()
                    .flatten()
                    .for_each(|changes| changes.notify_one());
            } else {
                interests
                    .get(&event.wd())
                    .into_iter()
                    .flatten()
                    .for_each(|changes| changes.notify_one());
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Watch;
    use std::io::Write;
    use std::time::Duration;

    #[expect(clippy::unwrap_used, reason = "only tests call it")]
    fn file(name: &str) -> (std::path::PathBuf, std::fs::File) {
        let path = std::env::temp_dir().join(format!("agent_process-watch-{}-{name}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        (path, file)
    }

    #[tokio::test]
    async fn a_write_is_told_to_every_watcher_of_the_file() {
        let (path, mut file) = file("every");
        let (first, second) = (Watch::new(&path), Watch::new(&path));
        assert!(first.is_told() && second.is_told());
        drop(first);
        file.write_all(b"x").unwrap();
        tokio::time::timeout(Duration::from_secs(10), second.changed())
            .await
            .unwrap();
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_runtime_that_ended_does_not_silence_the_next() {
        let (path, mut file) = file("next");
        for _ in 0..3 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let watch = Watch::new(&path);
                assert!(watch.is_told());
                file.write_all(b"x").unwrap();
                tokio::time::timeout(Duration::from_secs(10), watch.changed())
                    .await
                    .unwrap();
            });
        }
        assert!(
            !Watch::new(&path).is_told(),
            "without a runtime there is nobody to tell"
        );
        std::fs::remove_file(&path).unwrap();
    }
}
