//! `bound()`: limits what is kept of the output of a running tool.

use super::text_body::TextBody;

/// Output up to this is kept in full.
const MAX_BYTES: usize = 1 << 20;
/// Of longer output, the first and the last lines are kept, each part up to this many bytes.
const KEPT_LINES: usize = 50;
const KEPT_BYTES: usize = 64 << 10;

/// Cuts the middle of an output that is too long. It may grow again up to the limit before it is cut once more.
pub(super) fn bound(output: &mut TextBody) {
    let text = output.as_str();
    if text.len() <= MAX_BYTES {
        return;
    }
    let head = &text[..text.floor_char_boundary(KEPT_BYTES)];
    let head_end = head.match_indices('\n').nth(KEPT_LINES - 1);
    let head = head_end.map_or(head, |(end, _)| &head[..end]);
    let tail = &text[text.ceil_char_boundary(text.len() - KEPT_BYTES)..];
    let tail_start = tail
        .trim_end_matches('\n')
        .rmatch_indices('\n')
        .nth(KEPT_LINES - 1);
    let tail = tail_start.map_or(tail, |(start, _)| &tail[start + 1..]);
    let cut = format!("{head}\n… the middle of the output is not shown …\n{tail}");
    output.shorten(cut);
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, bound};
    use crate::transcript::text_body::TextBody;

    #[test]
    fn of_endless_output_the_first_and_the_last_lines_are_kept() {
        let mut output = TextBody::default();
        for number in 0..200_000 {
            output.push(&format!("line {number}\n"));
            bound(&mut output);
            assert!(output.as_str().len() <= MAX_BYTES);
        }
        assert!(output.as_str().starts_with("line 0\nline 1\n"));
        assert!(output.as_str().contains("line 49\n… the middle"));
        assert!(output.as_str().ends_with("line 199999\n"));
        let mut line = TextBody::default();
        line.push(&"é".repeat(MAX_BYTES));
        bound(&mut line);
        assert!(line.as_str().len() < MAX_BYTES / 4);
    }
}
