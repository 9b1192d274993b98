//! `RunFeed`: the newest frames of one run and who watches it. Written by the follower, read by every client.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ralph_run::ports::Place;

use super::frame::Frame;
use super::wake_set::{ClientWaker, Subscribers};

/// How much of the newest is kept for those who keep up. Others read the journal.
const MAX_BYTES: usize = 32 << 10;
const MAX_FRAMES: usize = 32;
/// A longer frame is not kept, whoever wants it reads the journal.
const MAX_FRAME_BYTES: usize = 512 << 10;

/// Where somebody is in a run: behind this record, which ends at this place in the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// The last record that was taken.
    pub seq: u64,
    /// Where it ends, or an earlier place where a record begins.
    pub place: Place,
}

/// What comes after a position.
#[derive(Debug)]
pub enum Next {
    /// Nothing yet.
    Nothing,
    /// These, in order.
    Frames(Vec<Arc<Frame>>),
    /// What is in the journal up to `end`; it is not kept here.
    Backfill {
        /// Where to stop.
        end: Position,
    },
    /// The journal is another one: what was read before means nothing.
    Reset {
        /// Which it is now.
        epoch: Arc<str>,
        /// How far it has been read.
        head: Position,
    },
    /// The run was deleted.
    Removed,
    /// Too much for this way: the records up to this position are skipped.
    Lagged {
        /// Where it goes on.
        end: Position,
    },
}

/// The newest of a run, and who watches it.
#[derive(Debug)]
pub struct RunFeed {
    run: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    epoch: Arc<str>,
    head: Position,
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    is_removed: bool,
    subscribers: Subscribers,
}

impl RunFeed {
    /// A run that has been read up to `head`.
    #[must_use]
    pub fn new(run: String, epoch: &str, head: Position) -> Self {
        let state = State {
            epoch: epoch.into(),
            head,
            frames: VecDeque::new(),
            bytes: 0,
            is_removed: false,
            subscribers: Subscribers::default(),
        };
        Self {
            run,
            state: Mutex::new(state),
        }
    }

    /// Names the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Which journal it is, and how far it has been read.
    #[must_use]
    pub fn head(&self) -> (Arc<str>, Position) {
        let state = self.lock();
        (state.epoch.clone(), state.head)
    }

    /// Gives everybody a frame.
    pub fn publish(&self, frame: Frame) {
        let mut state = self.lock();
        state.head = Position {
            seq: frame.to,
            place: frame.end,
        };
        state.bytes += frame.text.len();
        state.frames.push_back(Arc::new(frame));
        let is_too_much = |state: &State| {
            state.frames.len() > MAX_FRAMES
                || (state.bytes > MAX_BYTES && state.frames.len() > 1)
                || state.bytes > MAX_FRAME_BYTES
        };
        while is_too_much(&state) {
            if let Some(oldest) = state.frames.pop_front() {
                state.bytes -= oldest.text.len();
            }
        }
        state.subscribers.wake();
    }

    /// The journal is another one now.
    pub fn reset(&self, epoch: &str, head: Position) {
        let mut state = self.lock();
        state.epoch = epoch.into();
        state.head = head;
        state.frames.clear();
        state.bytes = 0;
        state.subscribers.wake();
    }

    /// The run was deleted: whoever watches it is told, and nothing more comes.
    pub fn remove(&self) {
        let mut state = self.lock();
        state.is_removed = true;
        state.frames.clear();
        state.bytes = 0;
        state.subscribers.wake();
    }

    /// Tells `waker`, under this number, when there is something new.
    pub fn watch(&self, waker: &Arc<ClientWaker>, number: usize) {
        self.lock().subscribers.add(waker, number);
    }

    /// Not any more.
    pub fn unwatch(&self, waker: &Arc<ClientWaker>, number: usize) {
        self.lock().subscribers.remove(waker, number);
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        !self.lock().subscribers.is_empty()
    }

    /// Where to read what comes after a record, if that is known here: at the end, or in a frame that is kept. The place
    /// is good for reading the journal, too, because the frame may be gone by the time somebody reads on.
    #[must_use]
    pub fn position_after(&self, seq: u64) -> Option<Position> {
        let state = self.lock();
        if seq >= state.head.seq {
            return Some(state.head);
        }
        let mut frames = state.frames.iter();
        let frame = frames.find(|frame| frame.from <= seq + 1 && seq < frame.to)?;
        Some(Position {
            seq,
            place: frame.start,
        })
    }

    /// What comes after a position in the journal of this epoch. `max_behind_bytes` is how much of the journal the caller
    /// reads; one that is further behind has lagged.
    #[must_use]
    pub fn after(&self, epoch: &str, position: Position, max_behind_bytes: u64) -> Next {
        let state = self.lock();
        if state.is_removed {
            return Next::Removed;
        }
        if *state.epoch != *epoch {
            return Next::Reset {
                epoch: state.epoch.clone(),
                head: state.head,
            };
        }
        if position.seq >= state.head.seq {
            return Next::Nothing;
        }
        let found = state
            .frames
            .iter()
            .position(|frame| frame.from == position.seq + 1);
        match found {
            Some(first) => Next::Frames(state.frames.range(first..).cloned().collect()),
            None if state.head.place.bytes_since(position.place) > max_behind_bytes => {
                Next::Lagged { end: state.head }
            }
            None => Next::Backfill { end: state.head },
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Frame, MAX_FRAME_BYTES, MAX_FRAMES, Next, Position, RunFeed};
    use crate::live::ClientWaker;

    const FAR: u64 = 4 << 20;

    fn feed(seq: u64, offset: u64) -> RunFeed {
        let place = offset.into();
        RunFeed::new("r".to_owned(), "e", Position { seq, place })
    }

    fn frame(from: u64, to: u64) -> Frame {
        Frame {
            from,
            to,
            start: ((from - 1) * 10).into(),
            end: (to * 10).into(),
            text: "x".into(),
        }
    }

    fn at(seq: u64) -> Position {
        Position {
            seq,
            place: (seq * 10).into(),
        }
    }

    #[test]
    fn who_keeps_up_is_given_frames_and_others_are_sent_to_the_journal() {
        let feed = feed(3, 30);
        assert!(matches!(feed.after("e", at(3), FAR), Next::Nothing));
        feed.publish(frame(4, 6));
        feed.publish(frame(7, 7));
        let Next::Frames(frames) = feed.after("e", at(3), FAR) else {
            unreachable!("the frames are there");
        };
        assert_eq!(frames.iter().map(|frame| frame.to).collect::<Vec<_>>(), [6, 7]);
        // In the middle of a frame, and before the first one.
        for seq in [0, 2, 4, 5] {
            assert!(matches!(feed.after("e", at(seq), FAR), Next::Backfill { end } if end == at(7)));
        }
    }

    #[test]
    fn only_the_newest_is_kept() {
        let feed = feed(0, 0);
        for seq in 1..=MAX_FRAMES as u64 + 5 {
            feed.publish(frame(seq, seq));
        }
        assert!(matches!(feed.after("e", at(4), FAR), Next::Backfill { .. }));
        assert!(matches!(feed.after("e", at(5), FAR), Next::Frames(frames) if frames.len() == MAX_FRAMES));
    }

    #[test]
    fn who_is_far_behind_is_told_so() {
        let feed = feed(1000, FAR + 1);
        let start = Position::default();
        assert!(matches!(feed.after("e", start, FAR), Next::Lagged { end } if end.seq == 1000));
        assert!(matches!(feed.after("e", start, u64::MAX), Next::Backfill { .. }));
    }

    #[test]
    fn a_position_stays_good_when_its_frame_is_gone() {
        let feed = feed(3, 30);
        feed.publish(frame(4, 6));
        feed.publish(frame(7, 7));
        let behind = [3, 4, 5, 6].map(|seq| feed.position_after(seq).unwrap());
        for _ in 0..MAX_FRAMES {
            let (_, head) = feed.head();
            feed.publish(frame(head.seq + 1, head.seq + 1));
        }
        // What is read from there in the journal begins no later than the record that is owed.
        for position in behind {
            assert!(position.place <= (position.seq * 10).into());
            assert!(matches!(feed.after("e", position, FAR), Next::Backfill { .. }));
        }
        assert_eq!(feed.position_after(3), None, "the journal is searched for it");
    }

    #[test]
    fn a_frame_that_is_very_long_is_not_kept() {
        let feed = feed(0, 0);
        feed.publish(Frame {
            text: "x".repeat(MAX_FRAME_BYTES + 1).into(),
            ..frame(1, 1)
        });
        assert!(matches!(feed.after("e", at(0), FAR), Next::Backfill { .. }));
    }

    #[test]
    fn another_journal_is_told() {
        let feed = feed(9, 90);
        feed.reset("f", at(2));
        assert!(matches!(feed.after("e", at(9), FAR), Next::Reset { head, .. } if head == at(2)));
        assert!(matches!(feed.after("f", at(2), FAR), Next::Nothing));
    }

    #[test]
    fn a_run_that_was_deleted_is_told_wherever_somebody_is() {
        let feed = feed(0, 0);
        feed.publish(frame(1, 1));
        feed.remove();
        for (epoch, seq) in [("e", 0), ("e", 1), ("other", 0)] {
            assert!(matches!(feed.after(epoch, at(seq), FAR), Next::Removed));
        }
    }

    #[tokio::test]
    async fn whoever_watches_is_woken_until_it_leaves() {
        let feed = feed(0, 0);
        let (one, two) = (Arc::new(ClientWaker::default()), Arc::new(ClientWaker::default()));
        feed.watch(&one, 7);
        feed.watch(&two, 8);
        feed.unwatch(&two, 8);
        feed.publish(frame(1, 1));
        assert!(one.wait().await.contains(&7));
        drop(one);
        assert!(!feed.is_watched());
    }
}
