//! `TranscriptView`: where the reader is in a transcript, and what is folded, filtered and searched.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fold::Transcript;
use crate::theme::Theme;

#[derive(Debug, Default)]
pub(crate) struct TranscriptView {}

impl TranscriptView {
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
