//! `render_footer()`: the keys that work here, and at the right where the reader is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use run_view::{cut_line, width};

use crate::bindings::{BoundRow, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::{self, put};

/// `context` is whose keys are shown: those of the run, of a field, or of nothing where a dialog names its own.
pub(super) fn render_footer(
    keymap: &Keymap,
    context: Option<Context>,
    does_something: impl Fn(&BoundRow) -> bool,
    status: &str,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) {
    let columns = u16::try_from(width(status)).unwrap_or(u16::MAX).min(area.width);
    let gap = u16::from(columns > 0) * 2;
    let left = Rect::new(
        area.x,
        area.y,
        area.width.saturating_sub(columns + gap),
        area.height,
    );
    match context {
        Some(Context::Run) => {
            widgets::render_footer(keymap, Context::Run, does_something, left, buffer, theme);
        }
        Some(context) => {
            let text = cut_line(&keymap.hints(context), usize::from(left.width));
            put(buffer, left, 0, &text, theme.style(Role::Faint));
        }
        None => {}
    }
    let place = Rect::new(area.right() - columns, area.y, columns, 1);
    put(buffer, place, 0, status, theme.style(Role::Strong));
}
