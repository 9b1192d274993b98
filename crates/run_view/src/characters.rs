//! `is_forbidden()`: which characters must not reach a terminal.

/// What happens to a character outside of escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is shown.
    Shown,
    /// It separates lines or pages: a newline is shown instead.
    Newline,
    /// It shows nothing, or changes how others are shown: it is left out.
    Removed,
    /// Its look is undefined: `\u{fffd}` is shown instead.
    Replaced,
}

/// Characters without a shape of their own: Unicode's format characters and what fonts ignore. Joiners inside emoji are
/// among them, because terminals do not agree on the width of what they join. The selectors of text and emoji style
/// (U+FE0E, U+FE0F) are not.
const INVISIBLE: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0d}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// What happens to a character outside of escape sequences.
pub(super) fn fate(character: char) -> Fate {
    match character {
        '\n' | '\t' | ' '..='~' => Fate::Shown,
        // Vertical tab, form feed, carriage return, NEL and Unicode's separators.
        '\u{b}'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Fate::Newline,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Fate::Removed,
        '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'.. => Fate::Replaced,
        _ if u32::from(character) & 0xfffe == 0xfffe => Fate::Replaced,
        _ if is_invisible(character) => Fate::Removed,
        _ => Fate::Shown,
    }
}

/// Whether a character must not reach a terminal as it is.
pub fn is_forbidden(character: char) -> bool {
    fate(character) != Fate::Shown
}

fn is_invisible(character: char) -> bool {
    let next = INVISIBLE.partition_point(|(_, last)| *last < character);
    INVISIBLE.get(next).is_some_and(|(first, _)| *first <= character)
}

#[cfg(test)]
mod tests {
    use super::{INVISIBLE, is_forbidden};

    #[test]
    fn the_table_is_in_order() {
        let all = INVISIBLE.iter().flat_map(|(first, last)| [*first, *last]);
        assert!(all.is_sorted());
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn letters_of_all_scripts_pass_and_what_steers_a_terminal_does_not() {
        let passing = "a~é߀Жא한あ漢字😀❤\u{fe0f}\u{301}\u{2800}…·⠋";
        assert_eq!(passing.chars().find(|character| is_forbidden(*character)), None);
        let steering = "\0\u{7}\u{8}\r\u{b}\u{c}\u{1b}\u{7f}\u{80}\u{85}\u{9b}\u{9f}\u{ad}\u{200b}\u{200d}\u{200e}\u{202e}\
                        \u{2028}\u{2066}\u{61c}\u{feff}\u{e000}\u{fdd0}\u{1fffe}\u{e0041}\u{e01ef}\u{10ffff}\u{f0000}";
        assert_eq!(steering.chars().find(|character| !is_forbidden(*character)), None);
    }
}
