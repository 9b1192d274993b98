//! `render_footer()`: the keys that work here, as many as fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::width;

use super::text::put_spans;
use crate::bindings::{BINDINGS, Binding, Context};
use crate::theme::{Role, Theme};

const GAP: &str = "  ";

/// The last row of a screen: the keys that do something now. Hints with a higher number are dropped first.
pub(crate) fn render_footer(
    context: Context,
    does_something: impl Fn(&Binding) -> bool,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) {
    let mut spans = Vec::new();
    for binding in footer_bindings(context, does_something, usize::from(area.width)) {
        if !spans.is_empty() {
            spans.push(Span::raw(GAP));
        }
        spans.push(Span::styled(binding.label, theme.style(Role::Strong)));
        let hint = format!(" {}", binding.hint);
        spans.push(Span::styled(hint, theme.style(Role::Faint)));
    }
    put_spans(buffer, area, 0, &Line::from(spans));
}

/// Those that fit, with help and quit, the most important ones, at the end.
fn footer_bindings(
    context: Context,
    does_something: impl Fn(&Binding) -> bool,
    columns: usize,
) -> Vec<&'static Binding> {
    let mut found: Vec<(u8, &Binding)> = BINDINGS
        .iter()
        .filter(|binding| binding.context == context || binding.context == Context::Anywhere)
        .filter(|binding| does_something(binding))
        .filter_map(|binding| Some((binding.footer?, binding)))
        .collect();
    found.sort_by_key(|(priority, _)| *priority);
    let mut free = columns + GAP.len();
    let mut fitting: Vec<&Binding> = Vec::new();
    for (_, binding) in found {
        let needed = width(binding.label) + 1 + width(binding.hint) + GAP.len();
        if needed > free {
            break;
        }
        free -= needed;
        fitting.push(binding);
    }
    fitting.sort_by_key(|binding| binding.context == Context::Anywhere);
    fitting
}

#[cfg(test)]
mod tests {
    use super::footer_bindings;
    use crate::bindings::{Action, Context};

    #[test]
    fn help_and_quit_are_dropped_last() {
        for columns in [14, 60, 80, 200] {
            let shown = footer_bindings(Context::Home, |_| true, columns);
            assert!(
                shown.iter().any(|binding| binding.action == Action::Quit),
                "{columns}"
            );
            assert_eq!(shown.last().map(|binding| binding.action), Some(Action::Help));
        }
        let count = |columns| footer_bindings(Context::Home, |_| true, columns).len();
        assert!(count(80) < count(200));
        let shown = footer_bindings(Context::Home, |binding| binding.action != Action::Open, 200);
        assert!(shown.iter().all(|binding| binding.action != Action::Open));
    }
}
