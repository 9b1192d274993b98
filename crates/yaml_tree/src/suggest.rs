//! `nearest_word()`: the known word that is most like an unknown one, for `did you mean`.

/// Of several words, the one that is most like another one.
pub fn nearest_word<'word>(unknown: &str, words: impl Iterator<Item = &'word str>) -> Option<&'word str> {
    words
        .filter_map(|word| Some((edit_distance(unknown, word)?, word)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many characters must change, if they are few.
pub fn edit_distance(unknown: &str, known: &str) -> Option<usize> {
    let normalised = unknown.to_ascii_lowercase().replace('-', "_");
    let distance = strsim::damerau_levenshtein(&normalised, &known.to_ascii_lowercase());
    (distance <= (known.len() / 3).max(1)).then_some(distance)
}
