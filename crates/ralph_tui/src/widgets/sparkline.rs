//! `sparkline()`: the last seconds of an activity as one row of blocks.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last values, the newest at the right, at most `columns` of them. The highest of them is a full block; a value above
/// zero is never shown as nothing.
pub(crate) fn sparkline(values: &[u64], columns: usize) -> String {
    let shown = values
        .get(values.len().saturating_sub(columns)..)
        .unwrap_or_default();
    let highest = shown.iter().copied().max().unwrap_or(0);
    if highest == 0 {
        return " ".repeat(columns);
    }
    let mut line = " ".repeat(columns - shown.len());
    line.extend(shown.iter().map(|value| block(*value, highest)));
    line
}

fn block(value: u64, highest: u64) -> char {
    if value == 0 {
        return ' ';
    }
    let level = u128::from(value) * (BLOCKS.len() as u128 - 1) / u128::from(highest);
    let level = usize::try_from(level).unwrap_or(0);
    BLOCKS.get(level).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn the_newest_value_is_at_the_right_and_the_highest_is_full() {
        assert_eq!(sparkline(&[], 4), "    ");
        assert_eq!(sparkline(&[0, 0], 4), "    ");
        assert_eq!(sparkline(&[1, 1_000], 4), "  ▁█");
        assert_eq!(sparkline(&[9_999, 0, 4, 8], 3), " ▄█");
        assert_eq!(sparkline(&[u64::MAX, u64::MAX / 2], 2), "█▄");
    }
}
