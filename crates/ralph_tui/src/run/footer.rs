//! `render_footer()`: the keys that work here, and at the right where the reader is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use run_view::{cut_line, width};

use crate::bindings::{Binding, Context};
use crate::theme::{Role, Theme};
use crate::widgets::{self, put};

/// Whose keys are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FooterContext {
    Run,
    Search,
    Message,
    Dialog,
}

pub(super) fn render_footer(
    context: FooterContext,
    does_something: impl Fn(&Binding) -> bool,
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
    let text = match context {
        FooterContext::Run => {
            widgets::render_footer(Context::Run, does_something, left, buffer, theme);
            ""
        }
        FooterContext::Search => "enter search · esc cancel",
        FooterContext::Message => "enter send · alt-enter line · tab now or later · esc close",
        FooterContext::Dialog => "",
    };
    let text = cut_line(text, usize::from(left.width));
    put(buffer, left, 0, &text, theme.style(Role::Faint));
    let place = Rect::new(area.right() - columns, area.y, columns, 1);
    put(buffer, place, 0, status, theme.style(Role::Strong));
}
