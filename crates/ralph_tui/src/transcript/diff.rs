//! `DiffLine`: the lines of a change to a file, read from a unified diff or made from two texts; shown below each other
//! or side by side.

use std::ops::Range;

use super::line::{Line, Look, Overflow};
use super::sheet::Sheet;
use super::syntax::Highlighter;
use super::wrap::{Break, columns, cut, wrap};
use crate::theme::Role;

/// Unchanged lines that are shown around changes.
const CONTEXT: usize = 3;
/// Larger changes are shown as everything removed and everything added.
const MAX_COMPARISONS: usize = 250_000;
const NUMBER_COLUMNS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffKind {
    Same,
    Added,
    Removed,
    /// Where a part of the file begins, or what was left out.
    Remark,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffLine {
    pub(super) kind: DiffKind,
    /// The number in the new file, or in the old one for a removed line, where it is known.
    pub(super) number: Option<u64>,
    /// The number of an unchanged line in the old file.
    old_number: Option<u64>,
    pub(super) text: String,
}

impl DiffLine {
    pub(super) fn new(kind: DiffKind, number: Option<u64>, text: &str) -> Self {
        Self {
            kind,
            number,
            old_number: number,
            text: text.to_owned(),
        }
    }
}

/// Reads the hunks of a unified diff.
pub(super) fn parse_diff(hunks: &str) -> Vec<DiffLine> {
    let (mut old, mut new) = (None, None);
    let mut lines = Vec::new();
    let advance = |number: &mut Option<u64>| {
        let current = *number;
        *number = current.map(|number| number.saturating_add(1));
        current
    };
    for line in hunks.lines() {
        if line.starts_with("@@") {
            (old, new) = (hunk_start(line, '-'), hunk_start(line, '+'));
            lines.push(DiffLine::new(DiffKind::Remark, None, line));
        } else if let Some(text) = line.strip_prefix('+') {
            lines.push(DiffLine::new(DiffKind::Added, advance(&mut new), text));
        } else if let Some(text) = line.strip_prefix('-') {
            lines.push(DiffLine::new(DiffKind::Removed, advance(&mut old), text));
        } else if let Some(text) = line.strip_prefix('\\') {
            lines.push(DiffLine::new(DiffKind::Remark, None, text.trim()));
        } else {
            let text = line.strip_prefix(' ').unwrap_or(line);
            lines.push(DiffLine {
                old_number: advance(&mut old),
                ..DiffLine::new(DiffKind::Same, advance(&mut new), text)
            });
        }
    }
    lines
}

/// `12` of `@@ -10,3 +12,4 @@`, by its sign.
fn hunk_start(line: &str, sign: char) -> Option<u64> {
    let range = line.split(' ').find_map(|part| part.strip_prefix(sign))?;
    range.split(',').next()?.parse().ok()
}

/// The lines that differ between two texts, with a few around them.
pub(super) fn compare(old: &str, new: &str) -> Vec<DiffLine> {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let mut lines = Vec::new();
    let same = |line: &&str| DiffLine::new(DiffKind::Same, None, line);
    lines.extend(old[head.saturating_sub(CONTEXT)..head].iter().map(same));
    middle(
        &old_rest[..old_rest.len() - tail],
        &new_rest[..new_rest.len() - tail],
        &mut lines,
    );
    let after = &old_rest[old_rest.len() - tail..];
    lines.extend(after[..tail.min(CONTEXT)].iter().map(same));
    lines
}

/// The longest common lines of what differs stay; the others are removed and added.
fn middle(old: &[&str], new: &[&str], lines: &mut Vec<DiffLine>) {
    let removed = |line: &&str| DiffLine::new(DiffKind::Removed, None, line);
    let added = |line: &&str| DiffLine::new(DiffKind::Added, None, line);
    if old.len().saturating_mul(new.len()) > MAX_COMPARISONS {
        lines.extend(old.iter().map(removed));
        lines.extend(new.iter().map(added));
        return;
    }
    // `common[i][j]`: how many lines `old[i..]` and `new[j..]` have in common, in order.
    let columns = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * columns];
    for (i, old_line) in old.iter().enumerate().rev() {
        for (j, new_line) in new.iter().enumerate().rev() {
            common[i * columns + j] = match old_line == new_line {
                true => common[(i + 1) * columns + j + 1] + 1,
                false => common[(i + 1) * columns + j].max(common[i * columns + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push(DiffLine::new(DiffKind::Same, None, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * columns + j] >= common[i * columns + j + 1] {
            lines.push(removed(&old[i]));
            i += 1;
        } else {
            lines.push(added(&new[j]));
            j += 1;
        }
    }
    lines.extend(old[i..].iter().map(removed));
    lines.extend(new[j..].iter().map(added));
}

/// Shows lines below each other.
pub(super) fn show_inline(lines: &[DiffLine], path: &str, lead: &str, sheet: &mut Sheet) {
    let mut old = Highlighter::for_path(path);
    let mut new = old.clone();
    let has_numbers = lines.iter().any(|line| line.number.is_some());
    for line in lines {
        let mut shown = Line::default().overflowing(Overflow::Anywhere);
        let number = match (has_numbers, line.number) {
            (false, _) => String::new(),
            (true, Some(number)) => format!("{number:>NUMBER_COLUMNS$} "),
            (true, None) => format!("{:NUMBER_COLUMNS$} ", ""),
        };
        shown.first_lead = format!("{lead}{number}");
        shown.rest_lead = format!("{lead}{:1$}", "", number.len());
        shown.lead_look = Look::of(Role::Faint);
        push_code(line, &mut shown, &mut old, &mut new);
        sheet.push(shown);
    }
}

/// Removed lines at the left, added ones at the right.
pub(super) fn show_side_by_side(lines: &[DiffLine], path: &str, lead: &str, sheet: &mut Sheet) {
    let mut old = Highlighter::for_path(path);
    let mut new = old.clone();
    let half = sheet.width.saturating_sub(columns(lead) + 3) / 2;
    let mut rest = lines;
    while let Some((first, others)) = rest.split_first() {
        match first.kind {
            DiffKind::Remark => {
                let line = Line::of(&first.text, Look::of(Role::Faint));
                sheet.push(line.led_by(lead, Look::PLAIN).overflowing(Overflow::Cut));
                rest = others;
            }
            DiffKind::Same => {
                push_pair(
                    Some(first),
                    Some(first),
                    (half, lead),
                    (&mut old, &mut new),
                    sheet,
                );
                rest = others;
            }
            DiffKind::Added | DiffKind::Removed => {
                let count_of =
                    |lines: &[DiffLine], kind| lines.iter().take_while(|line| line.kind == kind).count();
                let (removed, after) = rest.split_at(count_of(rest, DiffKind::Removed));
                let (added, after) = after.split_at(count_of(after, DiffKind::Added));
                for number in 0..removed.len().max(added.len()) {
                    let pair = (removed.get(number), added.get(number));
                    push_pair(pair.0, pair.1, (half, lead), (&mut old, &mut new), sheet);
                }
                rest = after;
            }
        }
    }
}

type Colors<'a> = (&'a mut Option<Highlighter>, &'a mut Option<Highlighter>);

fn push_pair(
    left: Option<&DiffLine>,
    right: Option<&DiffLine>,
    (half, lead): (usize, &str),
    (old, new): Colors<'_>,
    sheet: &mut Sheet,
) {
    let left = Half::of(left, left.and_then(|line| line.old_number), old);
    let right = Half::of(right, right.and_then(|line| line.number), new);
    let (left_rows, right_rows) = (
        left.rows(half, sheet.wraps_code),
        right.rows(half, sheet.wraps_code),
    );
    for number in 0..left_rows.len().max(right_rows.len()) {
        let mut line = Line::default()
            .led_by(lead, Look::PLAIN)
            .overflowing(Overflow::Cut);
        left.push_row(number, &left_rows, &mut line);
        line.pad_to(half, Look::PLAIN);
        line.push(" │ ", Look::of(Role::Frame));
        right.push_row(number, &right_rows, &mut line);
        sheet.push(line);
    }
}

/// One side of a row: the number of a line, and its sign and code.
#[derive(Debug, Default)]
struct Half {
    number: String,
    code: Line,
}

impl Half {
    fn of(line: Option<&DiffLine>, number: Option<u64>, colors: &mut Option<Highlighter>) -> Self {
        let mut half = Self::default();
        if let Some(line) = line {
            half.number = number.map_or_else(String::new, |number| format!("{number:>4} "));
            push_code(line, &mut half.code, &mut None, colors);
        }
        half
    }

    /// The parts of the code that stand below each other in this many columns, or the one that fits.
    fn rows(&self, columns: usize, wraps: bool) -> Vec<Range<usize>> {
        let room = columns.saturating_sub(self.number.len());
        let mut rows = Vec::new();
        if wraps {
            wrap(&self.code.text, room, Break::Anywhere, |row| rows.push(row));
        } else {
            rows.push(0..cut(&self.code.text, room).0);
        }
        rows
    }

    /// Only the first row has the number.
    fn push_row(&self, number: usize, rows: &[Range<usize>], out: &mut Line) {
        let Some(row) = rows.get(number) else {
            return;
        };
        match number {
            0 => out.push(&self.number, Look::of(Role::Faint)),
            _ => out.push(&" ".repeat(self.number.len()), Look::PLAIN),
        }
        let mut start = row.start;
        for span in &self.code.spans {
            let end = span.end.min(row.end);
            if end > start {
                out.push(self.code.text.get(start..end).unwrap_or_default(), span.look);
                start = end;
            }
        }
        let is_cut = number + 1 == rows.len() && row.end < self.code.text.len();
        if is_cut {
            out.push("…", Look::of(Role::Faint));
        }
    }
}

/// The sign and the code of a line. Code of the old file is only colored as removed.
fn push_code(line: &DiffLine, out: &mut Line, old: &mut Option<Highlighter>, new: &mut Option<Highlighter>) {
    match line.kind {
        DiffKind::Remark => out.push(&line.text, Look::of(Role::Faint)),
        DiffKind::Removed => {
            out.push("-", Look::of(Role::Removed));
            out.push(&line.text, Look::of(Role::Removed));
        }
        DiffKind::Added => {
            out.push("+", Look::of(Role::Added));
            push_colored(&line.text, Look::of(Role::Added), new, out);
        }
        DiffKind::Same => {
            out.push(" ", Look::PLAIN);
            push_colored(&line.text, Look::PLAIN, new, out);
            if let Some(old) = old {
                old.push(&line.text, Look::PLAIN, &mut Line::default());
            }
        }
    }
}

fn push_colored(text: &str, base: Look, colors: &mut Option<Highlighter>, out: &mut Line) {
    match colors {
        Some(colors) => colors.push(text, base, out),
        None => out.push(text, base),
    }
}

#[cfg(test)]
mod tests {
    use super::{DiffKind, DiffLine, Sheet, compare, parse_diff, show_side_by_side};

    fn shown(lines: &[DiffLine]) -> String {
        let row = |line: &DiffLine| {
            let sign = match line.kind {
                DiffKind::Same => ' ',
                DiffKind::Added => '+',
                DiffKind::Removed => '-',
                DiffKind::Remark => '@',
            };
            let number = line.number.map_or_else(String::new, |number| number.to_string());
            format!("{number}{sign}{}\n", line.text)
        };
        lines.iter().map(row).collect()
    }

    #[test]
    fn only_what_differs_is_shown_with_a_few_lines_around_it() {
        let (old, new) = ("1\n2\n3\n4\na\nb\nc\n5\n6", "1\n2\n3\n4\na\nB\nc\nd\n5\n6");
        assert_eq!(shown(&compare(old, new)), " 3\n 4\n a\n-b\n+B\n c\n+d\n 5\n 6\n");
        assert_eq!(shown(&compare("", "a\n")), "+a\n");
        assert_eq!(shown(&compare("a", "a")), " a\n");
    }

    #[test]
    fn lines_of_a_diff_have_their_numbers() {
        let diff = "@@ -10,3 +12,3 @@\n a\n-b\n+c\n d\n\\ No newline at end of file\n";
        assert_eq!(
            shown(&parse_diff(diff)),
            "@@@ -10,3 +12,3 @@\n12 a\n11-b\n13+c\n14 d\n@No newline at end of file\n"
        );
    }

    #[test]
    fn a_long_line_side_by_side_is_wrapped_in_its_half_or_cut() {
        let diff = "@@ -1,2 +1,2 @@\n-short\n+0123456789abcdefghij漢字\n same\n";
        let rows = |wraps: bool| {
            let mut sheet = Sheet::new(37, wraps);
            show_side_by_side(&parse_diff(diff), "a.txt", "  ", &mut sheet);
            let texts = sheet.lines().iter().map(|line| line.text.trim_end().to_owned());
            texts.skip(1).collect::<Vec<_>>()
        };
        assert_eq!(
            rows(true),
            [
                "   1 -short      │    1 +0123456789",
                "                 │      abcdefghij",
                "                 │      漢字",
                "   2  same       │    2  same",
            ]
        );
        assert_eq!(
            rows(false),
            [
                "   1 -short      │    1 +012345678…",
                "   2  same       │    2  same",
            ]
        );
    }
}
