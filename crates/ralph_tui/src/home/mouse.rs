//! The mouse on the home screen: a click selects, a click on the selected run opens it, the wheel scrolls.

use ratatui::layout::Position;
use terminal_input::{Mouse, MouseAction};

use super::screen::{HomeScreen, Overlay};
use crate::app::Now;
use crate::effect::Effect;

impl HomeScreen {
    pub(super) fn mouse(&mut self, mouse: Mouse, now: Now) -> Vec<Effect> {
        let mut effects = match mouse.action {
            MouseAction::WheelUp => self.wheel(-1),
            MouseAction::WheelDown => self.wheel(1),
            MouseAction::Press => self.click(mouse),
            MouseAction::Release | MouseAction::Drag => Vec::new(),
        };
        effects.extend(self.refresh_preview(now));
        effects
    }

    fn wheel(&mut self, rows: isize) -> Vec<Effect> {
        match &mut self.overlay {
            Some(Overlay::Answer(dialog)) => {
                dialog.scroll_by(rows);
            }
            Some(Overlay::NewRun | Overlay::Stop { .. }) => {}
            Some(Overlay::Filter) | None => self.list.move_by(rows),
        }
        Vec::new()
    }

    fn click(&mut self, mouse: Mouse) -> Vec<Effect> {
        // The click that gave the window its focus was not meant for what is under it.
        if std::mem::take(&mut self.ignores_click) {
            return Vec::new();
        }
        let is_list = matches!(self.overlay, None | Some(Overlay::Filter));
        let position = Position::new(mouse.column, mouse.row);
        if !is_list || !self.list_area.contains(position) {
            return Vec::new();
        }
        let row = usize::from(mouse.row - self.list_area.y);
        let Some(run) = self.drawn.get(row).cloned() else {
            return Vec::new();
        };
        if self.list.selected_id() == Some(&run) {
            return self.open_selected();
        }
        self.list.select(&run);
        Vec::new()
    }
}
