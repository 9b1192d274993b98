//! `next()`: which tasks start now. Pure, so that the reconciler can be tested without starting anything.

use crate::board::{Board, Held};
use crate::id::TaskId;
use crate::repeated_failure::RepeatedFailure;
use crate::touches::first_overlap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// To be started, in this order.
    pub start: Vec<TaskId>,
    /// Why nothing is started at all.
    pub pause: Option<RepeatedFailure>,
}

/// The tasks to start now: never two whose `touches` overlap, with each other or with work that is not merged, and never
/// more than the limits of the board allow.
pub fn next(board: &Board<'_>) -> Selection {
    if let Some(failure) = board.repeated_failure() {
        return Selection {
            start: Vec::new(),
            pause: Some(failure.clone()),
        };
    }
    let limits = &board.limits;
    let unmerged: Vec<Held<'_>> = board.unmerged().collect();
    let doing = unmerged.iter().filter(|held| !held.is_review).count();
    let review_room = limits
        .max_review
        .map_or(usize::MAX, |limit| limit.saturating_sub(unmerged.len()));
    let room = limits.parallel.saturating_sub(doing).min(review_room);
    // A task that has to wait keeps its files, or others that want a part of them could make it wait for ever.
    let mut taken: Vec<&[String]> = unmerged.iter().map(|held| held.touches).collect();
    let mut start = Vec::new();
    for card in board.ready() {
        if start.len() == room {
            break;
        }
        let is_free = !taken
            .iter()
            .any(|touches| first_overlap(&card.task.touches, touches).is_some());
        taken.push(&card.task.touches);
        if is_free {
            start.push(card.task.id.clone());
        }
    }
    Selection { start, pause: None }
}
