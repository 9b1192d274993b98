//! Whether two tasks would change the same files, by the globs of their `touches`. Tasks that overlap are never worked on
//! together.

/// Whether a pattern can be used. An error continues "`touches`: …".
pub(crate) fn check_pattern(pattern: &str) -> Result<(), String> {
    let shown = run_view::excerpt(pattern);
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(format!(
            "`{shown}` must be relative to the top of the repository, as in `src/parser/**`"
        ));
    }
    globset::Glob::new(pattern)
        .map(drop)
        .map_err(|error| format!("`{shown}` is not a glob: {}", error.kind()))
}

/// The first pair of patterns that some file could match both.
pub fn first_overlap<'a>(first: &'a [String], second: &'a [String]) -> Option<(&'a str, &'a str)> {
    first.iter().find_map(|one| {
        let other = second.iter().find(|other| patterns_overlap(one, other))?;
        Some((one.as_str(), other.as_str()))
    })
}

/// Whether some path could match both patterns. A pattern also stands for everything below what it matches. Errs on the
/// side of yes: character classes and alternatives count as if they matched anything.
pub fn patterns_overlap(first: &str, second: &str) -> bool {
    paths_meet(&parts_of(first), &parts_of(second))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any number of folders.
    AnyFolders,
    /// A name, with `*` and `?`.
    Name(Vec<Symbol>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Any,
    One,
    Character(char),
}

/// The parts of a path, and `**` for what is below it.
fn parts_of(pattern: &str) -> Vec<Part> {
    // Alternatives may contain a `/`, so from there on anything can follow.
    let (pattern, is_cut) = match pattern.find(['{', '[', '\\']) {
        Some(start) => (pattern.get(..start).unwrap_or_default(), true),
        None => (pattern, false),
    };
    let mut names: Vec<&str> = pattern
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    if is_cut && !pattern.ends_with('/') {
        // The name that was cut off is not known.
        names.pop();
    }
    let part = |name: &str| match name {
        "**" => Part::AnyFolders,
        name => Part::Name(symbols_of(name)),
    };
    let mut parts: Vec<Part> = names.into_iter().map(part).collect();
    parts.push(Part::AnyFolders);
    parts
}

fn symbols_of(name: &str) -> Vec<Symbol> {
    let symbol = |character| match character {
        '*' => Symbol::Any,
        '?' => Symbol::One,
        other => Symbol::Character(other),
    };
    name.chars().map(symbol).collect()
}

/// Whether two sequences of patterns can match one sequence. `is_any` says which element stands for any number, `meet`
/// whether two others can match the same.
fn sequences_meet<T>(
    first: &[T],
    second: &[T],
    is_any: impl Fn(&T) -> bool,
    meet: impl Fn(&T, &T) -> bool,
) -> bool {
    // Row by row: whether `first[..i]` and `second[..j]` can match the same.
    let mut row = vec![true];
    for other in second {
        let before = row.last().copied().unwrap_or_default();
        row.push(before && is_any(other));
    }
    for one in first {
        let mut next = vec![row.first().copied().unwrap_or_default() && is_any(one)];
        for (column, other) in second.iter().enumerate() {
            let at = |row: &[bool], column: usize| row.get(column).copied().unwrap_or_default();
            let (diagonal, above, left) = (at(&row, column), at(&row, column + 1), at(&next, column));
            // One that stands for any number takes another element, or none.
            next.push(match is_any(one) || is_any(other) {
                true => above || left,
                false => diagonal && meet(one, other),
            });
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn paths_meet(first: &[Part], second: &[Part]) -> bool {
    sequences_meet(
        first,
        second,
        |part| *part == Part::AnyFolders,
        |one, other| match (one, other) {
            (Part::Name(one), Part::Name(other)) => names_meet(one, other),
            _ => true,
        },
    )
}

fn names_meet(first: &[Symbol], second: &[Symbol]) -> bool {
    sequences_meet(
        first,
        second,
        |symbol| *symbol == Symbol::Any,
        |one, other| match (one, other) {
            (Symbol::Character(one), Symbol::Character(other)) => one == other,
            _ => true,
        },
    )
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};

    use super::{check_pattern, first_overlap, patterns_overlap};

    #[test]
    fn folders_wildcards_and_names_overlap_as_people_expect() {
        for (first, second, overlap) in [
            ("src/parser", "src/parser/token.rs", true),
            ("src/parser/**", "src/parser/token.rs", true),
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/main.ts", false),
            ("**/*.md", "docs/guide.md", true),
            ("**", "anything/at/all", true),
            ("src/parser", "src/printer", false),
            ("src/parse", "src/parser", false),
            ("a/*/c", "a/b/d", false),
            ("a/*/c", "a/b", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("src/{a,b}.rs", "src/c.rs", true),
            ("src/{a,b}.rs", "docs/c.rs", false),
            ("./src/", "src", true),
        ] {
            assert_eq!(patterns_overlap(first, second), overlap, "{first} and {second}");
            assert_eq!(patterns_overlap(second, first), overlap, "{second} and {first}");
        }
    }

    #[test]
    fn the_first_pair_that_overlaps_is_named() {
        let list = |patterns: &[&str]| patterns.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let (first, second) = (list(&["docs", "src/**"]), list(&["web", "src/a.rs"]));
        assert_eq!(first_overlap(&first, &second), Some(("src/**", "src/a.rs")));
        assert_eq!(first_overlap(&first, &[]), None);
    }

    #[test]
    fn patterns_outside_of_the_repository_and_broken_ones_are_refused() {
        for pattern in ["/etc", "../other", "src/[a", "a/../b"] {
            assert!(check_pattern(pattern).is_err(), "{pattern}");
        }
        assert!(check_pattern("src/**/*.rs").is_ok());
    }

    /// Short words over a small alphabet, so that many of them match.
    fn word(mut seed: u64, letters: &[&str], length: u64) -> String {
        let mut word = String::new();
        for _ in 0..1 + seed % length {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let index = usize::try_from(seed >> 33).unwrap() % letters.len();
            word.push_str(letters[index]);
        }
        word
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

        #[test]
        fn two_patterns_that_match_one_path_are_never_said_not_to_overlap(
            one in any::<u64>(), other in any::<u64>(), path in any::<u64>()
        ) {
            let letters = ["a", "b", "*", "?", "/", "**/", "{a,b/a}"];
            let (one, other) = (word(one, &letters, 6), word(other, &letters, 6));
            let path = word(path, &["a", "b", "/", "a/", "ab"], 6);
            let is_path = !path.starts_with('/') && !path.contains("//");
            let matches = |pattern: &str| {
                let glob = GlobBuilder::new(pattern).literal_separator(true).build().unwrap();
                glob.compile_matcher().is_match(&path)
            };
            if is_path && matches(&one) && matches(&other) {
                prop_assert!(patterns_overlap(&one, &other), "{one} and {other} match {path}");
            }
        }
    }
}
