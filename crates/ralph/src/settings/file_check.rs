//! Whether a `ralph.yml` makes sense: kinds of values, unknown keys.

use super::document::{Entry, Node, Problem, Value};
use super::near::nearest_key;
use super::table::{Kind, MODE_KEYS, SETTINGS, Setting};
use super::values::excerpt;

const SECTIONS: [&str; 2] = ["cli", "event_loop"];

/// Stops at the first value of the wrong kind; gives what is unknown.
pub(super) fn check_document(root: &Node) -> Result<Vec<Problem>, Problem> {
    let mut unknown = Vec::new();
    require_map(root, "the file")?;
    for entry in root.entries() {
        if SECTIONS.contains(&entry.key.as_str()) {
            require_map(&entry.value, &format!("`{}`", entry.key))?;
            for inner in entry.value.entries() {
                check_entry(inner, &format!("{}.{}", entry.key, inner.key), &mut unknown)?;
            }
        } else {
            check_entry(entry, &entry.key, &mut unknown)?;
        }
    }
    twice(root, &mut unknown);
    Ok(unknown)
}

fn check_entry(entry: &Entry, key: &str, unknown: &mut Vec<Problem>) -> Result<(), Problem> {
    let setting = SETTINGS
        .iter()
        .find(|setting| [setting.key, setting.short_key].contains(&key));
    match setting.map(|setting| setting.kind) {
        None => unknown.push(unknown_key(entry, key)),
        Some(_) if entry.value.value == Value::Null => {}
        Some(Kind::Modes) => check_modes(entry, unknown)?,
        Some(Kind::Variables) => check_variables(entry, key)?,
        Some(kind) => check_value(&entry.value, kind, key)?,
    }
    Ok(())
}

fn check_modes(modes: &Entry, unknown: &mut Vec<Problem>) -> Result<(), Problem> {
    require_map(&modes.value, "`modes`")?;
    for mode in modes.value.entries() {
        let name = format!("modes.{}", excerpt(&mode.key));
        require_map(&mode.value, &format!("`{name}`"))?;
        for entry in mode.value.entries() {
            let key = format!("{name}.{}", entry.key);
            match MODE_KEYS.iter().find(|(known, ..)| *known == entry.key) {
                None => unknown.push(unknown_key(entry, &key)),
                Some(_) if entry.value.value == Value::Null => {}
                Some((_, kind, _)) => check_value(&entry.value, *kind, &key)?,
            }
        }
    }
    Ok(())
}

fn check_variables(entry: &Entry, key: &str) -> Result<(), Problem> {
    require_map(&entry.value, &format!("`{key}`"))?;
    for variable in entry.value.entries() {
        if variable.key.is_empty() || variable.key.contains(['=', '\0']) {
            return Err((
                variable.at,
                format!("`{}` cannot name a variable", excerpt(&variable.key)),
            ));
        }
        if !matches!(variable.value.value, Value::Scalar(_) | Value::Null) {
            let found = variable.value.describe();
            return Err((
                variable.value.at,
                format!("`{key}.{}` must be text, not {found}", excerpt(&variable.key)),
            ));
        }
    }
    Ok(())
}

fn check_value(node: &Node, kind: Kind, key: &str) -> Result<(), Problem> {
    let is_list = matches!(kind, Kind::Names | Kind::Lines);
    match &node.value {
        Value::Scalar(text) => kind
            .check(text)
            .map_err(|message| (node.at, format!("`{key}` {message}"))),
        Value::List(nodes) if is_list => nodes.iter().try_for_each(|inner| match &inner.value {
            Value::Scalar(text) => kind
                .check(text)
                .map_err(|message| (inner.at, format!("an item of `{key}` {message}"))),
            _ => Err((
                inner.at,
                format!("an item of `{key}` must be text, not {}", inner.describe()),
            )),
        }),
        _ => Err((
            node.at,
            format!("`{key}` must be {}, not {}", expected(kind), node.describe()),
        )),
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Choice { names, .. } => format!("one of {}", names().join(", ")),
        Kind::Switch => "true or false".to_owned(),
        Kind::Money => "an amount in dollars".to_owned(),
        Kind::Text | Kind::Path => "text".to_owned(),
        other => format!("a {}", other.describe()),
    }
}

fn require_map(node: &Node, what: &str) -> Result<(), Problem> {
    match node.value {
        Value::Map(_) | Value::Null => Ok(()),
        Value::Scalar(_) | Value::List(_) => Err((
            node.at,
            format!("{what} must be a mapping (`key: value`), not {}", node.describe()),
        )),
    }
}

fn unknown_key(entry: &Entry, key: &str) -> Problem {
    let mut message = format!("unknown key `{}`", excerpt(key));
    if let Some(known) = nearest_key(key) {
        message.push_str(&format!(", did you mean `{known}`?"));
    }
    (entry.at, message)
}

/// A setting under both of its keys: the longer one counts.
fn twice(root: &Node, problems: &mut Vec<Problem>) {
    let at = |key: &str| key.split('.').try_fold(root, Node::get);
    let both = |setting: &&Setting| !setting.short_key.is_empty() && at(setting.key).is_some();
    for setting in SETTINGS.iter().filter(both) {
        if let Some(node) = at(setting.short_key) {
            let message = format!(
                "`{}` is ignored, as there is `{}`",
                setting.short_key, setting.key
            );
            problems.push((node.at, message));
        }
    }
}
