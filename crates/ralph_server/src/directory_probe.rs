//! `DirectoryProbe`: tells whether directories exist, for disks that may not answer. Used by the list of workspaces.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long an answer waits for the disks.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Nobody has that many workspaces: what is known of more is forgotten.
const MAX_KNOWN: usize = 10_000;

/// Looks at directories, one after the other: a disk that does not answer keeps one thread and no more, however often
/// somebody asks. Until it answers, what was seen before is told of the others.
#[derive(Debug)]
pub(crate) struct DirectoryProbe {
    turn: Arc<Semaphore>,
    known: Arc<Mutex<HashMap<String, bool>>>,
    timeout_after: Duration,
}

impl Default for DirectoryProbe {
    fn default() -> Self {
        Self::with_timeout(PROBE_TIMEOUT)
    }
}

impl DirectoryProbe {
    fn with_timeout(timeout_after: Duration) -> Self {
        Self {
            turn: Arc::new(Semaphore::new(1)),
            known: Arc::default(),
            timeout_after,
        }
    }

    /// Which of these are directories, in their order; not those that nobody can tell of.
    pub(crate) async fn probe(&self, paths: Vec<String>) -> Vec<bool> {
        self.look(paths, |path| path.is_dir()).await
    }

    async fn look(&self, paths: Vec<String>, is_there: impl Fn(&Path) -> bool + Send + 'static) -> Vec<bool> {
        let (turn, known, asked) = (self.turn.clone(), self.known.clone(), paths.clone());
        let looking = async move {
            // There is one for as long as there is a server.
            let turn = turn.acquire_owned().await.ok();
            let looked = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                for path in asked {
                    // One that never answers is as good as gone.
                    note(&known, &path, false);
                    note(&known, &path, is_there(Path::new(&path)));
                }
            });
            if let Err(error) = looked.await {
                tracing::error!(%error, "looking at workspaces failed");
            }
        };
        if timeout(self.timeout_after, looking).await.is_err() {
            tracing::warn!("a disk with a workspace on it does not answer");
        }
        let known = lock(&self.known);
        let seen = paths
            .iter()
            .map(|path| known.get(path).copied().unwrap_or_default());
        seen.collect()
    }
}

fn note(known: &Mutex<HashMap<String, bool>>, path: &str, is_there: bool) {
    let mut known = lock(known);
    if known.len() >= MAX_KNOWN {
        known.clear();
    }
    known.insert(path.to_owned(), is_there);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use super::DirectoryProbe;

    #[tokio::test]
    async fn a_disk_that_does_not_answer_keeps_one_thread_and_delays_nobody_for_long() {
        let probe = DirectoryProbe::with_timeout(Duration::from_millis(50));
        let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let seen = probe.look(paths(&["/a", "/gone"]), |path| path == Path::new("/a"));
        assert_eq!(seen.await, [true, false]);
        let (answer, answers) = mpsc::channel::<()>();
        let answers = Arc::new(std::sync::Mutex::new(answers));
        let asked = Arc::new(AtomicUsize::new(0));
        let look = || {
            let (answers, asked) = (answers.clone(), asked.clone());
            probe.look(paths(&["/dead", "/a", "/new"]), move |path| {
                if path == Path::new("/dead") {
                    asked.fetch_add(1, Ordering::Relaxed);
                    let _ = answers.lock().unwrap().recv();
                }
                true
            })
        };
        for _ in 0..3 {
            assert_eq!(look().await, [false, true, false]);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        // It answers again.
        drop(answer);
        let answered = async { while look().await != [true, true, true] {} };
        tokio::time::timeout(Duration::from_secs(20), answered)
            .await
            .unwrap();
    }
}
