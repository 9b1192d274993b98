//! The keys in `docs/terminal-ui.md`, written from the table of keys.

use std::fmt::Write as _;
use std::path::Path;

use super::{BoundRow, Context, Keymap};

/// What follows is written here.
const MARK: &str = "<!-- Written from the code by a test; do not edit below. -->\n";

/// `` `space` `pgdn` ``.
fn keys_of(row: &BoundRow) -> String {
    let keys: Vec<String> = row
        .labels()
        .iter()
        .map(|key| format!("`{}`", key.replace('|', "\\|")))
        .collect();
    keys.join(" ")
}

fn render_keys() -> String {
    let mut page = String::new();
    let keymap = Keymap::default();
    for context in Context::ALL {
        write!(
            page,
            "\n## {}\n\n| key | | name |\n|---|---|---|\n",
            context.title()
        )
        .unwrap();
        for row in keymap.rows(context) {
            let binding = row.binding;
            let name = match binding.is_fixed() {
                true => String::new(),
                false => format!("`{}`", binding.name()),
            };
            writeln!(page, "| {} | {} | {name} |", keys_of(row), binding.help).unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_the_terminal_ui_has_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terminal-ui.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (text, keys) = page.split_once(MARK).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{text}{MARK}{}", render_keys())).unwrap();
        return;
    }
    assert!(
        keys == render_keys(),
        "docs/terminal-ui.md is not what the code says. Update it: UPDATE_DOCS=1 cargo nextest run -p ralph_tui docs"
    );
}
