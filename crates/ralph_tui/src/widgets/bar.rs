//! `render_bar()`: how much of a limit is used.

use ratatui::text::{Line, Span};

use crate::theme::{Role, Theme};

/// From here on the bar warns. The runner warns at the same share.
const NEAR_LIMIT_PERCENT: u64 = 80;

/// A bar of `columns` columns. Something that is used fills at least one of them.
pub(crate) fn render_bar(used: u64, limit: u64, columns: usize, theme: Theme) -> Line<'static> {
    let filled = filled_columns(used, limit, columns);
    let role = match share_percent(used, limit) {
        100.. => Role::Bad,
        NEAR_LIMIT_PERCENT.. => Role::Warning,
        _ => Role::BarFilled,
    };
    Line::from(vec![
        Span::styled("━".repeat(filled), theme.style(role)),
        Span::styled("─".repeat(columns - filled), theme.style(Role::BarEmpty)),
    ])
}

fn share_percent(used: u64, limit: u64) -> u64 {
    match limit {
        0 => 100,
        _ => u64::try_from(u128::from(used) * 100 / u128::from(limit)).unwrap_or(u64::MAX),
    }
}

fn filled_columns(used: u64, limit: u64, columns: usize) -> usize {
    if used == 0 {
        return 0;
    }
    let Some(share) = (u128::from(used) * columns as u128).checked_div(u128::from(limit)) else {
        return columns;
    };
    usize::try_from(share)
        .unwrap_or(columns)
        .clamp(columns.min(1), columns)
}

#[cfg(test)]
mod tests {
    use super::render_bar;
    use crate::theme::{ColorScheme, Role, Theme};

    fn bar(used: u64, limit: u64) -> String {
        let line = render_bar(used, limit, 8, Theme::default());
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn a_bar_has_its_width_at_any_share() {
        assert_eq!(bar(0, 10), "────────");
        assert_eq!(bar(1, 1_000), "━───────");
        assert_eq!(bar(5, 10), "━━━━────");
        assert_eq!(bar(99, 100), "━━━━━━━─");
        assert_eq!(bar(u64::MAX, 10), "━━━━━━━━");
        assert_eq!(bar(1, 0), "━━━━━━━━");
        assert_eq!(bar(0, 0), "────────");
    }

    #[test]
    fn a_bar_warns_near_its_limit() {
        let theme = Theme::new(ColorScheme::Dark);
        for (used, role) in [(79, Role::BarFilled), (80, Role::Warning), (100, Role::Bad)] {
            assert_eq!(render_bar(used, 100, 8, theme).spans[0].style, theme.style(role));
        }
    }
}
