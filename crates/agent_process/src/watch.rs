//! Being told that a file has changed. One inotify instance serves the whole process: users have 128 of them.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;

/// A registered interest in one file; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    changes: Arc<Notify>,
    #[cfg(target_os = "linux")]
    registration: Option<linux::Registration>,
}

impl Watch {
    /// Watches `path` as well as the system can; where it cannot, [`Self::changed`] never returns and the caller's
    /// own poll does the work.
    pub(crate) fn new(path: &Path) -> Self {
        let changes = Arc::new(Notify::new());
        #[cfg(target_os = "linux")]
        return Self {
            registration: linux::register(path, Arc::clone(&changes)),
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

    /// Whether the system tells about changes of this file.
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
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
    use std::thread;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use tokio::sync::Notify;

    type Interests = HashMap<i32, Vec<Arc<Notify>>>;

    struct Hub {
        descriptor: OwnedFd,
        interests: Mutex<Interests>,
    }

    #[derive(Debug)]
    pub(super) struct Registration {
        watch: i32,
        changes: Arc<Notify>,
    }

    static HUB: OnceLock<Option<Hub>> = OnceLock::new();

    fn hub() -> Option<&'static Hub> {
        let start = || {
            let descriptor = inotify::init(CreateFlags::CLOEXEC).ok()?;
            thread::Builder::new()
                .name("file-watch".into())
                .stack_size(64 * 1024)
                .spawn(listen)
                .ok()?;
            Some(Hub {
                descriptor,
                interests: Mutex::default(),
            })
        };
        HUB.get_or_init(start).as_ref()
    }

    impl Hub {
        fn interests(&self) -> MutexGuard<'_, Interests> {
            self.interests.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    pub(super) fn register(path: &Path, changes: Arc<Notify>) -> Option<Registration> {
        let hub = hub()?;
        let mut interests = hub.interests();
        let watch =
            inotify::add_watch(&hub.descriptor, path, WatchFlags::MODIFY | WatchFlags::ATTRIB).ok()?;
        interests.entry(watch).or_default().push(Arc::clone(&changes));
        Some(Registration { watch, changes })
    }

    impl Drop for Registration {
        fn drop(&mut self) {
            let Some(hub) = hub() else { return };
            let mut interests = hub.interests();
            let Some(interested) = interests.get_mut(&self.watch) else {
                return;
            };
            interested.retain(|changes| !Arc::ptr_eq(changes, &self.changes));
            if interested.is_empty() {
                interests.remove(&self.watch);
                let _ = inotify::remove_watch(&hub.descriptor, self.watch);
            }
        }
    }

    /// Passes events on for as long as the process lives.
    fn listen() {
        // The hub is being initialised by the thread that started this one.
        let Some(hub) = HUB.wait().as_ref() else { return };
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&hub.descriptor, &mut space);
        loop {
            let changed = match events.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => None,
                Ok(event) => Some(event.wd()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
            };
            let interests = hub.interests();
            match changed {
                Some(watch) => interests
                    .get(&watch)
                    .into_iter()
                    .flatten()
                    .for_each(|changes| changes.notify_one()),
                // Events were dropped: everybody looks.
                None => interests
                    .values()
                    .flatten()
                    .for_each(|changes| changes.notify_one()),
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Watch;
    use std::io::Write;
    use std::time::Duration;

    #[tokio::test]
    async fn a_write_is_told_to_every_watcher_of_the_file() {
        let path = std::env::temp_dir().join(format!("agent_process-watch-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).unwrap();
        let (first, second) = (Watch::new(&path), Watch::new(&path));
        assert!(first.is_told() && second.is_told());
        drop(first);
        file.write_all(b"x").unwrap();
        tokio::time::timeout(Duration::from_secs(10), second.changed())
            .await
            .unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
