//! `set_field()`: changes one field of a task file and leaves every other byte as it is, comments and order included.

use yaml_tree::{Entry, Value, parse_document};

use crate::front_matter::FrontMatter;
use crate::parse::FIELDS;
use crate::yaml_text::{list, scalar};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Text(String),
    List(Vec<String>),
    /// The field is left out.
    Absent,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    #[error("the front matter cannot be read; `ralph tasks check` says what is wrong")]
    Unreadable,
    /// It is written in a way that single lines cannot be changed, as `{id: …}` on one line.
    #[error("`{field}` is written in a form that ralph cannot change; change it in an editor")]
    Form { field: String },
}

/// The text with another value of a field. The result is read again, so that a field is never changed by accident.
pub fn set_field(text: &str, field: &str, value: &FieldValue) -> Result<String, EditError> {
    let matter = FrontMatter::find(text).map_err(|_| EditError::Unreadable)?;
    let before = entries(text, &matter)?;
    let form = || EditError::Form {
        field: field.to_owned(),
    };
    let mut lines: Vec<String> = text
        .get(..matter.yaml.end)
        .unwrap_or_default()
        .split_inclusive('\n')
        .map(str::to_owned)
        .collect();
    let line_end = match lines.first() {
        Some(first) if first.ends_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let written = match value {
        FieldValue::Text(text) => Some(scalar(text)),
        FieldValue::List(items) => Some(list(items)),
        FieldValue::Absent => None,
    };
    match before.iter().position(|entry| entry.key == field) {
        Some(place) => {
            let start = before.get(place).map_or(0, |entry| entry.at.line - 1);
            let next = before
                .get(place + 1)
                .map_or(lines.len(), |entry| entry.at.line - 1);
            if next <= start || next > lines.len() {
                return Err(form());
            }
            let end = end_of_value(&lines, start, next);
            let comment = lines
                .get(start)
                .filter(|_| end == start + 1)
                .and_then(|line| comment_of(line));
            let line = written.map(|value| {
                let comment = comment.map_or_else(String::new, |comment| format!("  {comment}"));
                format!("{field}: {value}{comment}{line_end}")
            });
            lines.splice(start..end, line);
        }
        None => {
            let Some(value) = written else {
                return Ok(text.to_owned());
            };
            let at = insertion_line(&before, field, &lines).unwrap_or(lines.len());
            lines.insert(at, format!("{field}: {value}{line_end}"));
        }
    }
    let mut changed = lines.concat();
    changed.push_str(text.get(matter.yaml.end..).unwrap_or_default());
    match is_as_meant(&before, &changed, field, value) {
        true => Ok(changed),
        false => Err(form()),
    }
}

/// The text with another body.
pub fn replace_body(text: &str, body: &str) -> Result<String, EditError> {
    let matter = FrontMatter::find(text).map_err(|_| EditError::Unreadable)?;
    let mut changed = text.get(..matter.body).unwrap_or_default().to_owned();
    if !changed.ends_with('\n') {
        changed.push('\n');
    }
    if !body.trim().is_empty() {
        changed.push_str(&format!("\n{}\n", body.trim()));
    }
    Ok(changed)
}

fn entries(text: &str, matter: &FrontMatter) -> Result<Vec<Entry>, EditError> {
    let root = parse_document(matter.document(text)).map_err(|_| EditError::Unreadable)?;
    Ok(root.entries().to_vec())
}

/// The line after a value: comments and empty lines before the next field belong to that.
fn end_of_value(lines: &[String], start: usize, next: usize) -> usize {
    let is_value = |line: &String| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    };
    let within = lines.get(start + 1..next).unwrap_or_default();
    let last = within.iter().rposition(is_value);
    last.map_or(start + 1, |last| start + last + 2)
}

/// The comment at the end of a line, with its `#`.
fn comment_of(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut before = ' ';
    for (offset, character) in line.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') if " :,[{".contains(before) => quote = Some(character),
            (Some('"'), '"') if before != '\\' => quote = None,
            (Some('\''), '\'') => quote = None,
            (None, '#') if before.is_whitespace() => return line.get(offset..).map(str::trim_end),
            _ => {}
        }
        before = character;
    }
    None
}

/// Fields have an order, so a new one goes before the first field that comes after it.
fn insertion_line(entries: &[Entry], field: &str, lines: &[String]) -> Option<usize> {
    let rank = |key: &str| FIELDS.iter().position(|known| *known == key);
    let own = rank(field)?;
    let previous = entries
        .iter()
        .rposition(|entry| rank(&entry.key).is_some_and(|rank| rank < own))?;
    let start = entries.get(previous)?.at.line - 1;
    let next = entries
        .get(previous + 1)
        .map_or(lines.len(), |entry| entry.at.line - 1);
    Some(end_of_value(lines, start, next))
}

/// Whether only this field has changed, and to this value.
fn is_as_meant(before: &[Entry], changed: &str, field: &str, value: &FieldValue) -> bool {
    let Ok(matter) = FrontMatter::find(changed) else {
        return false;
    };
    let Ok(after) = entries(changed, &matter) else {
        return false;
    };
    let others = |entries: &[Entry]| -> Vec<(String, Plain)> {
        let others = entries.iter().filter(|entry| entry.key != field);
        others
            .map(|entry| (entry.key.clone(), plain(&entry.value.value)))
            .collect()
    };
    let wanted = match value {
        FieldValue::Text(text) => Some(Plain::Text(text.clone())),
        FieldValue::List(items) => Some(Plain::List(items.iter().cloned().map(Plain::Text).collect())),
        FieldValue::Absent => None,
    };
    let found = after.iter().find(|entry| entry.key == field);
    others(before) == others(&after) && found.map(|entry| plain(&entry.value.value)) == wanted
}

/// A value without its position.
#[derive(Debug, PartialEq, Eq)]
enum Plain {
    Nothing,
    Text(String),
    List(Vec<Plain>),
    Map(Vec<(String, Plain)>),
}

fn plain(value: &Value) -> Plain {
    match value {
        Value::Null => Plain::Nothing,
        Value::Scalar(text) => Plain::Text(text.clone()),
        Value::List(items) => Plain::List(items.iter().map(|item| plain(&item.value)).collect()),
        Value::Map(entries) => Plain::Map(
            entries
                .iter()
                .map(|entry| (entry.key.clone(), plain(&entry.value.value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{EditError, FieldValue, replace_body, set_field};

    const TASK: &str = "---\n# Who and what\nid: k3f9a # never change\ntitle: \"A # title\"   # short\n\n# People decide\nstatus: todo\ndepends_on:\n  - abcde # first\n  - bcdef\n# At the end\nverify: [make test]\n---\n\nBody: # stays\n";

    fn text(value: &str) -> FieldValue {
        FieldValue::Text(value.to_owned())
    }

    #[test]
    fn one_line_changes_and_comments_and_order_stay() {
        let changed = set_field(TASK, "status", &text("done")).unwrap();
        assert_eq!(changed, TASK.replace("status: todo", "status: done"));
        let changed = set_field(TASK, "title", &text("Other")).unwrap();
        assert_eq!(changed, TASK.replace("\"A # title\"   # short", "Other  # short"));
    }

    #[test]
    fn a_list_on_several_lines_becomes_one_line() {
        let ids = FieldValue::List(vec!["bcdef".to_owned()]);
        let changed = set_field(TASK, "depends_on", &ids).unwrap();
        assert_eq!(
            changed,
            TASK.replace(
                "depends_on:\n  - abcde # first\n  - bcdef\n",
                "depends_on: [bcdef]\n"
            )
        );
    }

    #[test]
    fn a_new_field_gets_its_place_and_an_absent_one_leaves_no_line() {
        let changed = set_field(TASK, "parent", &text("zzzzz")).unwrap();
        assert_eq!(
            changed,
            TASK.replace("status: todo\n", "status: todo\nparent: zzzzz\n")
        );
        assert_eq!(set_field(&changed, "parent", &FieldValue::Absent).unwrap(), TASK);
        assert_eq!(set_field(TASK, "parent", &FieldValue::Absent).unwrap(), TASK);
        let changed = set_field(TASK, "agent", &text("worker")).unwrap();
        assert_eq!(
            changed,
            TASK.replace("[make test]\n", "[make test]\nagent: worker\n")
        );
    }

    #[test]
    fn line_ends_of_windows_stay() {
        let task = TASK.replace('\n', "\r\n");
        let changed = set_field(&task, "status", &text("done")).unwrap();
        assert_eq!(changed, task.replace("status: todo", "status: done"));
    }

    #[test]
    fn what_cannot_be_changed_line_by_line_is_refused() {
        let flow = "---\n{id: k3f9a, title: x}\n---\n";
        let refused = set_field(flow, "title", &text("y"));
        assert_eq!(
            refused,
            Err(EditError::Form {
                field: "title".to_owned()
            })
        );
        for broken in ["no front matter", "---\na: [\n---\n", "---\n<<<<<<< a\n---\n"] {
            assert_eq!(set_field(broken, "title", &text("y")), Err(EditError::Unreadable));
        }
    }

    #[test]
    fn the_body_is_replaced_and_the_front_matter_stays() {
        let changed = replace_body(TASK, "\nNew body.\n\n").unwrap();
        assert_eq!(changed, TASK.replace("Body: # stays", "New body."));
        assert!(replace_body(TASK, "").unwrap().ends_with("---\n"));
    }
}
