//! `parse_key()` and `label_of()`: keys as people write them, such as `ctrl-d`, `pgdn` and `x`.

use terminal_input::Key;

/// Names of keys, and how the footer shows them.
const NAMES: &[(&str, &str, Key)] = &[
    ("enter", "enter", Key::Enter),
    ("alt-enter", "alt-enter", Key::LineBreak),
    ("esc", "esc", Key::Escape),
    ("space", "space", Key::Character(' ')),
    ("tab", "tab", Key::Character('\t')),
    ("shift-tab", "shift-tab", Key::BackTab),
    ("backspace", "backspace", Key::Backspace),
    ("delete", "delete", Key::Delete),
    ("up", "↑", Key::Up),
    ("down", "↓", Key::Down),
    ("left", "←", Key::Left),
    ("right", "→", Key::Right),
    ("pgup", "pgup", Key::PageUp),
    ("pgdn", "pgdn", Key::PageDown),
    ("home", "home", Key::Home),
    ("end", "end", Key::End),
    // Keys that the decoder has already given a meaning, as in a shell.
    ("ctrl-d", "ctrl-d", Key::EndOfInput),
    ("ctrl-k", "ctrl-k", Key::DeleteToEnd),
    ("ctrl-u", "ctrl-u", Key::DeleteToStart),
    ("ctrl-w", "ctrl-w", Key::DeleteWord),
];

/// Ctrl with these letters is another key: for a terminal (Ctrl-I is Tab), or as in a shell (Ctrl-A is Home).
const OTHER_KEYS: &str = "abefhijmnp";

/// The key with this name; why there is none.
pub(super) fn parse_key(name: &str) -> Result<Key, String> {
    if let Some((_, _, key)) = NAMES.iter().find(|(known, ..)| *known == name) {
        return Ok(key.clone());
    }
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) if !character.is_control() && !character.is_whitespace() => {
            return Ok(Key::Character(character));
        }
        _ => {}
    }
    let letter_after = |prefix: &str| {
        let mut rest = name.strip_prefix(prefix)?.chars();
        let letter = rest.next().filter(char::is_ascii_lowercase)?;
        rest.next().is_none().then_some(letter)
    };
    match (letter_after("ctrl-"), letter_after("alt-")) {
        (Some(letter), _) if OTHER_KEYS.contains(letter) => {
            Err(format!("`{name}` is another key for a terminal"))
        }
        (Some(letter), _) => Ok(Key::Control(letter)),
        // Alt-B and Alt-F move by words.
        (_, Some(letter)) if !"bf".contains(letter) => Ok(Key::Alt(letter)),
        _ => Err(format!(
            "`{}` is not a key; write `x`, `ctrl-x`, `alt-x`, `enter`, `esc`, `space`, `tab`, `shift-tab`, `up`, `pgdn`, …",
            run_view::one_line(name, 40)
        )),
    }
}

/// How the footer and the help name a key.
pub(super) fn label_of(key: &Key) -> String {
    if let Some((_, label, _)) = NAMES.iter().find(|(_, _, known)| known == key) {
        return (*label).to_owned();
    }
    match key {
        Key::Character(character) => character.to_string(),
        Key::Control(letter) => format!("ctrl-{letter}"),
        Key::Alt(letter) => format!("alt-{letter}"),
        _ => String::new(),
    }
}
