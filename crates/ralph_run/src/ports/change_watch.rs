//! `ChangeWatch`: which of many files have changed, by one inotify instance that is read without waiting. Elsewhere than
//! on Linux it knows nothing, and the follower threads check the lengths of files instead.

#[cfg(target_os = "linux")]
pub(super) use linux::ChangeWatch;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::ChangeWatch;

/// Notifications were lost: any file may have changed.
#[derive(Debug)]
pub(super) struct Overflowed;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    use super::Overflowed;

    #[derive(Debug)]
    pub(in super::super) struct ChangeWatch {
        inotify: Option<OwnedFd>,
        /// Who waits for which file. Two readers of one file share a watch.
        readers: HashMap<i32, Vec<u64>>,
    }

    impl ChangeWatch {
        pub(in super::super) fn new() -> Self {
            let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
            Self {
                inotify: inotify.ok(),
                readers: HashMap::new(),
            }
        }

        /// Watches a file for the reader of this id; none where that is not possible.
        pub(in super::super) fn add(&mut self, path: &Path, id: u64) -> Option<i32> {
            let flags =
                WatchFlags::MODIFY | WatchFlags::ATTRIB | WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF;
            let watch = inotify::add_watch(self.inotify.as_ref()?, path, flags).ok()?;
            self.readers.entry(watch).or_default().push(id);
            Some(watch)
        }

        pub(in super::super) fn remove(&mut self, watch: Option<i32>, id: u64) {
            let Some(watch) = watch else { return };
            let Some(readers) = self.readers.get_mut(&watch) else {
                return;
            };
            readers.retain(|reader| *reader != id);
            if readers.is_empty() {
                self.readers.remove(&watch);
                // It fails if the file is gone, and the watch with it.
                let _ = self
                    .inotify
                    .as_ref()
                    .map(|inotify| inotify::remove_watch(inotify, watch));
            }
        }

        /// Readable when something has changed.
        pub(in super::super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            self.inotify.as_ref().map(|inotify| inotify.as_fd())
        }

        /// Says whose files have changed.
        pub(in super::super) fn drain(&self, mut changed: impl FnMut(u64)) -> Result<(), Overflowed> {
            let Some(inotify) = &self.inotify else {
                return Ok(());
            };
            let mut space = [MaybeUninit::uninit(); 4096];
            let mut events = inotify::Reader::new(inotify, &mut space);
            let mut result = Ok(());
            while let Ok(event) = events.next() {
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    result = Err(Overflowed);
                }
                let readers = self.readers.get(&event.wd());
                readers.into_iter().flatten().for_each(|id| changed(*id));
            }
            result
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::os::fd::BorrowedFd;
    use std::path::Path;

    use super::Overflowed;

    #[derive(Debug)]
    pub(in super::super) struct ChangeWatch;

    impl ChangeWatch {
        pub(in super::super) fn new() -> Self {
            Self
        }

        pub(in super::super) fn add(&mut self, _path: &Path, _id: u64) -> Option<i32> {
            None
        }

        pub(in super::super) fn remove(&mut self, _watch: Option<i32>, _id: u64) {}

        pub(in super::super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        pub(in super::super) fn drain(&self, _changed: impl FnMut(u64)) -> Result<(), Overflowed> {
            Ok(())
        }
    }
}
