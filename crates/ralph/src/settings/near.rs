//! What somebody may have meant.

use super::table::{MODE_KEYS, SETTINGS};

/// The known key that is most like an unknown one. Both are written with their section, as in `cli.backend`.
pub(super) fn nearest_key(unknown: &str) -> Option<String> {
    let (section, leaf) = split(unknown);
    if section.starts_with("modes.") {
        let keys = MODE_KEYS.iter().map(|(key, ..)| *key);
        return keys
            .filter_map(|key| Some((distance(leaf, key)?, key)))
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, key)| format!("{section}.{key}"));
    }
    let keys = SETTINGS
        .iter()
        .flat_map(|setting| [setting.key, setting.short_key]);
    keys.filter(|key| !key.is_empty())
        .filter_map(|key| {
            let (known_section, known_leaf) = split(key);
            let is_elsewhere = known_section != section;
            // The unit at the end of a key is easily forgotten.
            let stem = known_leaf.trim_end_matches("_seconds").trim_end_matches("_usd");
            let distance = distance(leaf, known_leaf)
                .into_iter()
                .chain(distance(leaf, stem))
                .min()?;
            Some((distance, is_elsewhere, key))
        })
        .min_by_key(|(distance, is_elsewhere, _)| (*distance, *is_elsewhere))
        .map(|(.., key)| key.to_owned())
}

/// Of several words, the one that is most like another one.
pub(super) fn nearest_word<'word>(
    unknown: &str,
    words: impl Iterator<Item = &'word str>,
) -> Option<&'word str> {
    words
        .filter_map(|word| Some((distance(unknown, word)?, word)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// How many characters must change, if they are few.
fn distance(unknown: &str, known: &str) -> Option<usize> {
    let normalised = unknown.to_ascii_lowercase().replace('-', "_");
    let distance = strsim::damerau_levenshtein(&normalised, known);
    (distance <= (known.len() / 3).max(1)).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::nearest_key;

    #[test]
    fn typing_mistakes_other_sections_and_other_spellings_are_recognised() {
        for (unknown, known) in [
            ("modell", Some("model")),
            ("cli.bakcend", Some("cli.backend")),
            ("bakcend", Some("backend")),
            ("max_iterations", Some("event_loop.max_iterations")),
            ("event_loop.maxIterations", Some("event_loop.max_iterations")),
            ("event_loop.max-iterations", Some("event_loop.max_iterations")),
            ("event_loop.max_runtime", Some("event_loop.max_runtime_seconds")),
            ("max_cost", Some("event_loop.max_cost_usd")),
            ("modes.mine.tool", Some("modes.mine.tools")),
            ("modes.mine.zzz", None),
            ("hats", None),
            ("zzzzzzzz", None),
        ] {
            assert_eq!(nearest_key(unknown).as_deref(), known, "{unknown}");
        }
    }
}
