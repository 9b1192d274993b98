//! `Suspension`: stops every child with all its descendants and the clock of their deadlines, as for Ctrl-Z.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::clock;
use crate::process::Command;

/// How long children may take to stop. A guard needs milliseconds.
const FREEZE_TIMEOUT: Duration = Duration::from_secs(5);

/// The children of this process that run.
#[derive(Default)]
struct Children {
    running: HashMap<u64, mpsc::UnboundedSender<Command>>,
    /// How many suspensions there are. They do not nest in practice.
    suspensions: usize,
}

static CHILDREN: Mutex<Option<Children>> = Mutex::new(None);
static NEXT_KEY: AtomicU64 = AtomicU64::new(0);

fn with_children<T>(use_children: impl FnOnce(&mut Children) -> T) -> T {
    let mut children: MutexGuard<'_, _> = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    use_children(children.get_or_insert_default())
}

/// A child that is suspended together with this process. Held by its pump.
#[derive(Debug)]
pub(crate) struct Registration(u64);

impl Registration {
    pub(crate) fn new(commands: mpsc::UnboundedSender<Command>) -> Self {
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        with_children(|children| {
            if children.suspensions > 0 {
                let (frozen, _) = mpsc::unbounded_channel();
                let _ = commands.send(Command::Freeze(frozen));
            }
            children.running.insert(key, commands);
        });
        Self(key)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        with_children(|children| children.running.remove(&self.0));
    }
}

/// While it lives, all children of this process and their descendants are stopped, and [`clock`] stands still. Dropping
/// it continues them. If this process is killed meanwhile, guards kill their children as always.
///
/// Without a guard, descendants that left the child's process group keep running. On Windows no process is stopped.
#[derive(Debug)]
pub struct Suspension {
    is_over: bool,
}

impl Suspension {
    /// Stops the clock and all children. Returns once they have stopped, or after a few seconds.
    pub async fn begin() -> Self {
        clock::stop();
        let (frozen, mut all_frozen) = mpsc::unbounded_channel();
        with_children(|children| {
            children.suspensions += 1;
            for commands in children.running.values() {
                let _ = commands.send(Command::Freeze(frozen.clone()));
            }
        });
        let suspension = Self { is_over: false };
        // Each pump drops its sender when its child has stopped or is gone.
        drop(frozen);
        if tokio::time::timeout(FREEZE_TIMEOUT, all_frozen.recv())
            .await
            .is_err()
        {
            tracing::warn!("some children did not stop in time");
        }
        suspension
    }

    /// Stops this process, as the system does for SIGTSTP. Returns when it is continued, or at once where no shell could
    /// continue it.
    pub fn stop_this_process(&self) {
        #[cfg(unix)]
        crate::signals::stop_this_process();
    }

    /// Continues the children. Returns how long the clock stood still.
    #[must_use]
    pub fn end(mut self) -> Duration {
        self.finish()
    }

    fn finish(&mut self) -> Duration {
        if std::mem::replace(&mut self.is_over, true) {
            return Duration::ZERO;
        }
        let is_last = with_children(|children| {
            children.suspensions -= 1;
            if children.suspensions == 0 {
                for commands in children.running.values() {
                    let _ = commands.send(Command::Thaw);
                }
            }
            children.suspensions == 0
        });
        if is_last { clock::resume() } else { Duration::ZERO }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        self.finish();
    }
}
