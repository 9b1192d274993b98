//! The part of `TranscriptView` that jumps to cells, and says what the selected cell is about.

use agent_api::ToolInput;

use super::cell::{Cell, CellKind};
use super::fold::Transcript;
use super::logical_text::logical_text;
use super::view::{Jump, TranscriptView};

impl TranscriptView {
    /// Goes to a cell and selects it. Whether there is such a cell.
    pub(crate) fn jump(&mut self, transcript: &Transcript, jump: Jump) -> bool {
        let is_request = |cell: &Cell| matches!(cell.kind, CellKind::Request(_));
        let is_iteration = |cell: &Cell| matches!(cell.kind, CellKind::Iteration(_));
        let target = match jump {
            Jump::NextError => self.next(transcript, Cell::is_error),
            Jump::PreviousError => self.previous(transcript, Cell::is_error),
            Jump::NextEdit => self.next(transcript, Cell::is_edit),
            Jump::PreviousEdit => self.previous(transcript, Cell::is_edit),
            Jump::NextRequest => self.next(transcript, is_request),
            Jump::PreviousRequest => self.previous(transcript, is_request),
            Jump::NextIteration => self.next(transcript, is_iteration),
            Jump::PreviousIteration => self.previous(transcript, is_iteration),
            Jump::Iteration(number) => transcript
                .cells()
                .iter()
                .position(|cell| cell.iteration == number && self.is_visible(cell)),
        };
        let Some(index) = target else {
            return false;
        };
        self.selected = Some(index);
        self.is_following = false;
        let bottom = self.bottom(transcript, transcript.len());
        self.set_position(transcript, bottom.min((index, 0)));
        true
    }

    fn next(&self, transcript: &Transcript, is_wanted: impl Fn(&Cell) -> bool) -> Option<usize> {
        let after = self.selected.map_or(self.anchor.cell, |selected| selected + 1);
        let mut cells = transcript.cells().iter().enumerate().skip(after);
        cells
            .find(|(_, cell)| is_wanted(cell) && self.is_visible(cell))
            .map(|(index, _)| index)
    }

    fn previous(&self, transcript: &Transcript, is_wanted: impl Fn(&Cell) -> bool) -> Option<usize> {
        let end = transcript.len();
        let from = if self.is_following { end } else { self.anchor.cell };
        let before = self.selected.unwrap_or(from).min(end);
        let cells = transcript.cells().get(..before).unwrap_or_default();
        cells
            .iter()
            .rposition(|cell| is_wanted(cell) && self.is_visible(cell))
    }

    /// The logical text of the selected cell, or else of the last text of the agent.
    pub(crate) fn copy_text(&self, transcript: &Transcript) -> Option<String> {
        let cell = match self.selected {
            Some(selected) => transcript.cell(selected),
            None => transcript
                .cells()
                .iter()
                .rfind(|cell| matches!(cell.kind, CellKind::Text(_))),
        };
        cell.map(logical_text).filter(|text| !text.is_empty())
    }

    /// The file and the line that the selected cell is about.
    pub(crate) fn file_place(&self, transcript: &Transcript) -> Option<(String, Option<u64>)> {
        let CellKind::Tool(tool) = &transcript.cell(self.selected?)?.kind else {
            return None;
        };
        if let Some((path, lines)) = super::cells::tool::changes_of(tool).into_iter().next() {
            let is_change = |line: &&super::diff::DiffLine| line.kind != super::diff::DiffKind::Same;
            let changed = lines.iter().filter(is_change).find_map(|line| line.number);
            return Some((path, changed));
        }
        match tool.typed_input() {
            ToolInput::Read { path, offset, .. } => Some((path, offset)),
            ToolInput::Edit { path, .. } | ToolInput::Write { path, .. } => Some((path, None)),
            ToolInput::Search { path, .. } => path.map(|path| (path, None)),
            _ => None,
        }
    }
}
