//! `Filter`: restricts a search to a run, a workspace and so on. A filter is indexed as a word that starts with a
//! private-use character, so no query text can match it, in the same column as the record's own words.

use std::fmt::Write as _;

const PRIVATE: char = '\u{e000}';

/// A restriction of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Filter<'a> {
    Run(i64),
    Workspace(&'a str),
    Backend(&'a str),
    Kind(u8),
    Tool(&'a str),
}

/// Writes the word of a filter.
pub(crate) fn write(filter: Filter<'_>, out: &mut String) {
    out.push(PRIVATE);
    // Writing into a string cannot fail.
    let _ = match filter {
        Filter::Run(number) => write!(out, "r{number:x}"),
        Filter::Workspace(path) => write!(out, "w{:010x}", digest(path)),
        Filter::Backend(name) => write!(out, "b{:010x}", digest(name)),
        Filter::Kind(number) => write!(out, "k{number:x}"),
        Filter::Tool(name) => write!(out, "t{:010x}", digest(name)),
    };
}

/// FNV-1a, 40 bits of it: the same in every version, and long enough for the few names there are.
fn digest(name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 24) ^ (hash & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::{Filter, write};
    use crate::search::words::each_word;

    #[test]
    fn nobody_can_type_a_filter() {
        let mut word = String::new();
        write(Filter::Tool("Bash"), &mut word);
        each_word(&word, |_, typed| assert_ne!(typed, word));
        assert_eq!(word.chars().count(), 12);
    }
}
