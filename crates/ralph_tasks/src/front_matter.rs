//! `FrontMatter`: where the YAML of a task file is, and where its body begins.

use std::ops::Range;

use yaml_tree::Position;

/// The line before and after the YAML.
const FENCE: &str = "---";
const CONFLICT_MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// Byte ranges of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    /// The lines between the fences.
    pub(crate) yaml: Range<usize>,
    /// Everything after the second fence.
    pub(crate) body: usize,
}

/// What is wrong with the form of a file, before its fields are read.
pub(crate) type FormProblem = (Position, &'static str);

impl FrontMatter {
    pub(crate) fn find(text: &str) -> Result<Self, FormProblem> {
        let start = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut lines = Lines::new(text, start);
        match lines.next() {
            Some((_, line)) if line == FENCE => {}
            _ => {
                return Err((
                    at_line(1),
                    "the front matter is missing: the first line must be `---`",
                ));
            }
        }
        let yaml_start = lines.offset;
        let mut number = 1;
        while let Some((offset, line)) = lines.next() {
            number += 1;
            if CONFLICT_MARKERS.iter().any(|marker| line.starts_with(marker)) {
                return Err((
                    at_line(number),
                    "unresolved merge conflict: keep one side and remove the markers",
                ));
            }
            if line == FENCE {
                return Ok(Self {
                    yaml: yaml_start..offset,
                    body: lines.offset,
                });
            }
        }
        Err((
            at_line(1),
            "the front matter has no end: add a line `---` after its last field",
        ))
    }

    /// The YAML with the first fence, so that positions in it are positions in the file.
    pub(crate) fn document<'text>(&self, text: &'text str) -> &'text str {
        text.get(..self.yaml.end).unwrap_or_default()
    }

    pub(crate) fn body<'text>(&self, text: &'text str) -> &'text str {
        text.get(self.body..).unwrap_or_default()
    }

    /// The position of a conflict marker in the body. A line of `=` is a heading there.
    pub(crate) fn conflict_in_body(&self, text: &str) -> Option<Position> {
        let lines_before = text.get(..self.body)?.lines().count();
        let is_marker = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
        let index = self.body(text).lines().position(is_marker)?;
        Some(at_line(lines_before + index + 1))
    }
}

fn at_line(line: usize) -> Position {
    Position { line, column: 1 }
}

/// The lines of a text without white space at their ends, each with the offset of its beginning.
struct Lines<'text> {
    text: &'text str,
    /// Of the next line.
    offset: usize,
}

impl<'text> Lines<'text> {
    fn new(text: &'text str, offset: usize) -> Self {
        Self { text, offset }
    }

    fn next(&mut self) -> Option<(usize, &'text str)> {
        let rest = self.text.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let line = rest.split_inclusive('\n').next()?;
        let start = self.offset;
        self.offset += line.len();
        Some((start, line.trim_end()))
    }
}
