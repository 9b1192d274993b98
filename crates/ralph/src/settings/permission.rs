//! The names of permission modes: ours, and those that agents use.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ralph_run::control::PermissionChoice;

use super::values::excerpt;

/// Each mode with its name, the names that agents have for it, and its help.
const MODES: [(PermissionChoice, &str, &[&str], &str); 5] = [
    (
        PermissionChoice::Ask,
        "ask",
        &["default"],
        "The agent asks; without `--ask` its requests are denied",
    ),
    (
        PermissionChoice::AcceptEdits,
        "accept-edits",
        &["acceptEdits", "accept_edits"],
        "Edits are allowed, everything else is asked",
    ),
    (
        PermissionChoice::Plan,
        "plan",
        &[],
        "Nothing changes before a plan is approved",
    ),
    (
        PermissionChoice::Refuse,
        "refuse",
        &["dontAsk", "dont-ask"],
        "Everything that would be asked is denied",
    ),
    (
        PermissionChoice::Bypass,
        "bypass",
        &["bypassPermissions", "bypass-permissions"],
        "Everything is allowed",
    ),
];

pub(super) fn permission_names() -> Vec<String> {
    MODES.iter().map(|(_, name, ..)| (*name).to_owned()).collect()
}

/// As people write it.
pub fn permission_name(mode: PermissionChoice) -> &'static str {
    let named = MODES.iter().find(|(other, ..)| *other == mode);
    named.map_or("", |(_, name, ..)| name)
}

pub(super) fn parse_permission(text: &str) -> Result<PermissionChoice, String> {
    let text = text.trim();
    let is_named = |(_, name, aliases, _): &&(_, &str, &[&str], _)| *name == text || aliases.contains(&text);
    let mode = MODES.iter().find(is_named).map(|(mode, ..)| *mode);
    mode.ok_or_else(|| {
        format!(
            "must be one of {}, not `{}`",
            permission_names().join(", "),
            excerpt(text)
        )
    })
}

/// For a flag: the help and the shell completions list all names.
pub fn permission_parser() -> impl TypedValueParser<Value = PermissionChoice> {
    let values = MODES.map(|(_, name, aliases, help)| PossibleValue::new(name).aliases(aliases).help(help));
    PossibleValuesParser::new(values).try_map(|text| parse_permission(&text))
}
