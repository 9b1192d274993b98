//! The mouse on the home screen: a click selects, a click on the selected run opens it, the wheel moves the cursor.

use ratatui::layout::Position;

use super::screen::{HomeDialog, HomeScreen};
use crate::app::Now;
use crate::effect::Effect;

impl HomeScreen {
    pub(crate) fn wheel(&mut self, rows: isize, now: Now) -> Vec<Effect> {
        match &mut self.dialog {
            Some(HomeDialog::Answer(dialog)) => dialog.scroll_by(rows),
            Some(HomeDialog::NewRun | HomeDialog::Stop { .. }) => {}
            // A row has more in it than a line of text.
            Some(HomeDialog::Filter) | None => self.list.move_by(rows.signum()),
        }
        self.refresh_preview(now)
    }

    pub(crate) fn click(&mut self, place: Position, now: Now) -> Vec<Effect> {
        let is_list = matches!(self.dialog, None | Some(HomeDialog::Filter));
        if !is_list || !self.list_area.contains(place) {
            return Vec::new();
        }
        let row = usize::from(place.y - self.list_area.y);
        let Some(run) = self.drawn.get(row).cloned() else {
            return Vec::new();
        };
        if self.list.selected_id() == Some(&run) {
            return self.open_selected();
        }
        self.list.select(&run);
        self.refresh_preview(now)
    }
}
