/// Line `number` of a flood, newline included, exactly `line_bytes` long (or as short as its frame allows).
///
/// The number makes a lost, doubled or reordered line visible; a reader can compare whole lines with this function.
#[must_use]
pub fn flood_line(number: u64, line_bytes: usize) -> Vec<u8> {
    let mut line = format!(r#"{{"type":"flood","number":{number},"padding":""#).into_bytes();
    let end = b"\"}\n";
    let padding = line_bytes.saturating_sub(line.len() + end.len());
    line.resize(line.len() + padding, b'x');
    line.extend_from_slice(end);
    line
}

#[cfg(test)]
mod tests {
    use super::flood_line;

    #[test]
    fn flood_lines_are_json_of_the_length_asked_for() {
        for (number, length) in [(1, 64), (999_999, 4096), (7, 100_000)] {
            let line = flood_line(number, length);
            assert_eq!(line.len(), length);
            assert_eq!(line.last(), Some(&b'\n'));
            let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(value["number"], number);
        }
    }
}
