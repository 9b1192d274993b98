//! `Pointer`: the mouse and the focus of the window, before any screen sees them.

use std::time::{Duration, Instant};

use terminal_input::{Key, Mouse, MouseAction};

use crate::input::MouseMode;

/// Rows that one notch of the wheel scrolls.
const NOTCH_ROWS: isize = 3;
/// A notch is one to nine reports of a terminal, sent at once.
const MAX_REPORTS: u8 = 9;
const NOTCH_TIME: Duration = Duration::from_millis(3);
/// Reports of a trackpad follow each other faster than a wheel can be turned.
const STREAM_TIME: Duration = Duration::from_millis(12);

/// What a report of the terminal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointerEvent {
    /// By so many rows, down if positive.
    Wheel(isize, Mouse),
    Click(Mouse),
    /// A text was to be selected, probably.
    Drag,
}

#[derive(Debug, Default)]
pub(crate) struct Pointer {
    pub(crate) mode: MouseMode,
    is_unfocused: bool,
    /// Whether the next click is the one that gave the window its focus.
    ignores_click: bool,
    wheel: Option<Notch>,
}

/// The reports of the wheel that belong together.
#[derive(Debug)]
struct Notch {
    action: MouseAction,
    last_at: Instant,
    reports: u8,
}

impl Pointer {
    pub(crate) fn is_unfocused(&self) -> bool {
        self.is_unfocused
    }

    /// Takes a key. `None` if it is not about the mouse or the focus; otherwise what is to be done, if anything.
    pub(crate) fn key(&mut self, key: &Key, now: Instant) -> Option<Option<PointerEvent>> {
        match key {
            Key::Focused => {
                (self.is_unfocused, self.ignores_click) = (false, true);
                Some(None)
            }
            Key::Unfocused => {
                self.is_unfocused = true;
                Some(None)
            }
            Key::Mouse(mouse) => Some(self.mouse(*mouse, now)),
            _ => {
                // A key arrives only at a window that has the focus.
                (self.is_unfocused, self.ignores_click) = (false, false);
                None
            }
        }
    }

    fn mouse(&mut self, mouse: Mouse, now: Instant) -> Option<PointerEvent> {
        match mouse.action {
            MouseAction::WheelUp | MouseAction::WheelDown => {
                let rows = self.wheel_rows(mouse.action, now);
                let rows = if mouse.action == MouseAction::WheelUp {
                    -rows
                } else {
                    rows
                };
                (rows != 0).then_some(PointerEvent::Wheel(rows, mouse))
            }
            MouseAction::Press => {
                let is_ignored = std::mem::take(&mut self.ignores_click);
                (!is_ignored).then_some(PointerEvent::Click(mouse))
            }
            MouseAction::Drag => Some(PointerEvent::Drag),
            MouseAction::Release => None,
        }
    }

    /// Terminals differ in how many reports they send for a notch: all of them together scroll as one.
    fn wheel_rows(&mut self, action: MouseAction, now: Instant) -> isize {
        let before = self.wheel.take().filter(|notch| notch.action == action);
        let since = before
            .as_ref()
            .map(|notch| now.saturating_duration_since(notch.last_at));
        let (rows, reports) = match (before, since) {
            (Some(notch), Some(since)) if since < NOTCH_TIME && notch.reports < MAX_REPORTS => {
                (0, notch.reports + 1)
            }
            (Some(_), Some(since)) if (NOTCH_TIME..STREAM_TIME).contains(&since) => (1, 1),
            _ => (NOTCH_ROWS, 1),
        };
        self.wheel = Some(Notch {
            action,
            last_at: now,
            reports,
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use terminal_input::{Key, Mouse, MouseAction};

    use super::{Pointer, PointerEvent};

    fn mouse(action: MouseAction) -> Key {
        Key::Mouse(Mouse {
            action,
            column: 0,
            row: 0,
        })
    }

    /// How many rows the reports at these microseconds scroll.
    fn rows(at: impl IntoIterator<Item = u64>) -> isize {
        let (mut pointer, start) = (Pointer::default(), Instant::now());
        let events = at.into_iter().filter_map(|at| {
            pointer.key(&mouse(MouseAction::WheelDown), start + Duration::from_micros(at))?
        });
        events
            .map(|event| match event {
                PointerEvent::Wheel(rows, _) => rows,
                PointerEvent::Click(_) | PointerEvent::Drag => 0,
            })
            .sum()
    }

    #[test]
    fn a_notch_scrolls_three_rows_however_many_reports_it_is() {
        for reports in 1..=9 {
            assert_eq!(rows((0..reports).map(|report| report * 50)), 3, "{reports}");
        }
        assert_eq!(rows([0, 40_000, 80_000]), 9);
        // Of a trackpad.
        assert_eq!(rows((0..10).map(|report| report * 8_000)), 3 + 9);
        assert_eq!(rows((0..18).map(|report| report * 10)), 6);
    }

    #[test]
    fn the_click_that_gives_the_focus_does_nothing_else() {
        let (mut pointer, now) = (Pointer::default(), Instant::now());
        pointer.key(&Key::Unfocused, now);
        assert!(pointer.is_unfocused());
        pointer.key(&Key::Focused, now);
        assert!(!pointer.is_unfocused());
        assert_eq!(pointer.key(&mouse(MouseAction::Press), now), Some(None));
        let click = pointer.key(&mouse(MouseAction::Press), now).flatten();
        assert!(matches!(click, Some(PointerEvent::Click(_))));
        pointer.key(&Key::Focused, now);
        assert_eq!(pointer.key(&Key::Character('j'), now), None);
        let click = pointer.key(&mouse(MouseAction::Press), now).flatten();
        assert!(matches!(click, Some(PointerEvent::Click(_))));
    }
}
