//! `Receipts`: which commands were answered and which clients still wait. `ControlServer` repeats answers with it.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::command::ControlRequest;
use super::protocol::line_of;
use super::refusal::{Refusal, RefusalCode};

/// How many receipts are kept for a client that asks again.
const MAX_RECEIPTS: usize = 1024;

/// How many commands can wait for the run to take them.
const MAX_PENDING: usize = 256;

/// A line to a client, and the room that it takes in the client's queue until it is written.
pub(super) type Outgoing = (Bytes, OwnedSemaphorePermit);

/// A client that waits for an answer.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) outbox: mpsc::UnboundedSender<Outgoing>,
    pub(super) room: OwnedSemaphorePermit,
}

impl Waiter {
    pub(super) fn send(self, line: Bytes) {
        // The client may have gone.
        let _ = self.outbox.send((line, self.room));
    }
}

/// What is to be done about a request.
#[derive(Debug)]
pub(super) enum Begun {
    New,
    /// It is being done: the client is answered together with the first one.
    Waits,
    /// It was done: the same answer again.
    Answered(Waiter, Bytes),
    Refused(Waiter, Refusal),
}

/// What was answered already, and who still waits. Of what was answered, the newest are kept.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    entries: HashMap<Arc<str>, Entry>,
    /// Those that are answered, the oldest first.
    answered: VecDeque<Arc<str>>,
}

#[derive(Debug)]
struct Entry {
    digest: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Pending(Vec<Waiter>),
    Answered(Bytes),
}

impl Receipts {
    pub(super) fn begin(&mut self, request: &ControlRequest, waiter: Waiter) -> Begun {
        let digest = digest(request);
        if let Some(entry) = self.entries.get_mut(request.id.as_str()) {
            if entry.digest != digest {
                let what = "this id was used for another command: give each its own";
                return Begun::Refused(waiter, Refusal::new(RefusalCode::IdReused, what));
            }
            return match &mut entry.state {
                State::Pending(waiters) => {
                    waiters.push(waiter);
                    Begun::Waits
                }
                State::Answered(line) => Begun::Answered(waiter, line.clone()),
            };
        }
        if self.entries.len() - self.answered.len() >= MAX_PENDING {
            let what = "too many commands wait already: try again later";
            return Begun::Refused(waiter, Refusal::new(RefusalCode::Busy, what));
        }
        let state = State::Pending(vec![waiter]);
        self.entries
            .insert(request.id.as_str().into(), Entry { digest, state });
        Begun::New
    }

    /// Keeps the answer and gives it to all who wait for it.
    pub(super) fn answer(&mut self, id: &str, line: Bytes) {
        let Some((key, _)) = self.entries.get_key_value(id) else {
            return;
        };
        let key = key.clone();
        if let Some(entry) = self.entries.get_mut(id)
            && let State::Pending(waiters) =
                std::mem::replace(&mut entry.state, State::Answered(line.clone()))
        {
            for waiter in waiters {
                waiter.send(line.clone());
            }
            self.answered.push_back(key);
        }
        while self.answered.len() > MAX_RECEIPTS {
            if let Some(oldest) = self.answered.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }
}

/// Tells commands apart that came under the same id.
fn digest(request: &ControlRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    line_of(request).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use tokio::sync::{Semaphore, mpsc};

    use super::{Begun, MAX_PENDING, MAX_RECEIPTS, Outgoing, Receipts, Waiter};
    use crate::control::{ControlCommand, ControlRequest, RefusalCode};

    struct Client {
        room: Arc<Semaphore>,
        outbox: mpsc::UnboundedSender<Outgoing>,
        lines: mpsc::UnboundedReceiver<Outgoing>,
    }

    impl Client {
        fn new() -> Self {
            let (outbox, lines) = mpsc::unbounded_channel();
            let room = Arc::new(Semaphore::new(4096));
            Self { room, outbox, lines }
        }

        fn waiter(&self) -> Waiter {
            let room = self.room.clone().try_acquire_owned().unwrap();
            let outbox = self.outbox.clone();
            Waiter { outbox, room }
        }

        fn received(&mut self) -> usize {
            std::iter::from_fn(|| self.lines.try_recv().ok()).count()
        }
    }

    fn stop(id: &str) -> ControlRequest {
        ControlRequest {
            id: id.to_owned(),
            by: None,
            command: ControlCommand::Stop,
        }
    }

    #[test]
    fn the_newest_receipts_are_kept_and_no_more() {
        let (mut receipts, client) = (Receipts::default(), Client::new());
        for number in 0..MAX_RECEIPTS + 10 {
            let id = number.to_string();
            assert!(matches!(receipts.begin(&stop(&id), client.waiter()), Begun::New));
            receipts.answer(&id, Bytes::from_static(b"done\n"));
        }
        assert_eq!(receipts.entries.len(), MAX_RECEIPTS);
        assert!(matches!(receipts.begin(&stop("9"), client.waiter()), Begun::New));
        assert!(matches!(
            receipts.begin(&stop("10"), client.waiter()),
            Begun::Answered(..)
        ));
    }

    #[test]
    fn all_who_wait_for_one_command_are_answered_once() {
        let (mut receipts, mut client) = (Receipts::default(), Client::new());
        assert!(matches!(receipts.begin(&stop("a"), client.waiter()), Begun::New));
        assert!(matches!(
            receipts.begin(&stop("a"), client.waiter()),
            Begun::Waits
        ));
        receipts.answer("a", Bytes::from_static(b"done\n"));
        receipts.answer("a", Bytes::from_static(b"again\n"));
        assert_eq!(client.received(), 2);
    }

    #[test]
    fn an_id_means_one_command() {
        let (mut receipts, client) = (Receipts::default(), Client::new());
        assert!(matches!(receipts.begin(&stop("a"), client.waiter()), Begun::New));
        let other = ControlRequest {
            command: ControlCommand::Kill,
            ..stop("a")
        };
        let begun = receipts.begin(&other, client.waiter());
        assert!(matches!(begun, Begun::Refused(_, refusal) if refusal.code == RefusalCode::IdReused));
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut receipts, client) = (Receipts::default(), Client::new());
        for number in 0..MAX_PENDING {
            let begun = receipts.begin(&stop(&number.to_string()), client.waiter());
            assert!(matches!(begun, Begun::New));
        }
        let begun = receipts.begin(&stop("one-more"), client.waiter());
        assert!(matches!(begun, Begun::Refused(_, refusal) if refusal.code == RefusalCode::Busy));
    }
}
