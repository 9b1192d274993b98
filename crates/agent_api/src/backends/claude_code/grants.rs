//! `offered_grants()`: the permission updates that the CLI suggests, taken apart into grants of one thing each.
//!
//! An update of another type, with a field or a destination that is not known, is not offered: what it would grant could
//! not be said exactly.

use claude_code::RawJson;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backends::offered_grants::OfferedGrants;
use crate::event::{GrantDestination, GrantKind};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "type", rename_all = "camelCase")]
enum Update {
    AddRules {
        rules: Vec<Rule>,
        behavior: String,
        destination: Destination,
    },
    AddDirectories {
        directories: Vec<String>,
        destination: Destination,
    },
    SetMode {
        mode: String,
        destination: Destination,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Rule {
    tool_name: String,
    #[serde(default)]
    rule_content: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Destination {
    Session,
    LocalSettings,
    ProjectSettings,
    UserSettings,
}

impl Destination {
    fn wire_name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::LocalSettings => "localSettings",
            Self::ProjectSettings => "projectSettings",
            Self::UserSettings => "userSettings",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Session => "for this session",
            Self::LocalSettings => "in this workspace, for you",
            Self::ProjectSettings => "in this workspace, for everyone",
            Self::UserSettings => "in all your workspaces",
        }
    }
}

impl From<Destination> for GrantDestination {
    fn from(destination: Destination) -> Self {
        match destination {
            Destination::Session => Self::Session,
            Destination::LocalSettings => Self::Workspace,
            Destination::ProjectSettings => Self::Project,
            Destination::UserSettings => Self::User,
        }
    }
}

pub(super) fn offered_grants(suggestions: Option<&RawJson>) -> OfferedGrants {
    let mut offered = OfferedGrants::default();
    let suggestions: Vec<Value> = suggestions
        .and_then(|suggestions| suggestions.deserialize().ok())
        .unwrap_or_default();
    // Each for itself: one that is not understood does not hide the others.
    for update in suggestions
        .into_iter()
        .filter_map(|update| Update::deserialize(update).ok())
    {
        offer(update, &mut offered);
    }
    offered
}

fn offer(update: Update, offered: &mut OfferedGrants) {
    match update {
        Update::AddRules {
            rules,
            behavior,
            destination,
        } if behavior == "allow" => {
            for rule in rules {
                offer_rule(&rule, destination, offered);
            }
        }
        Update::AddRules { .. } => {}
        Update::AddDirectories {
            directories,
            destination,
        } => {
            for directory in directories {
                let payload = json!({"type": "addDirectories", "directories": [directory],
                    "destination": destination.wire_name()});
                let text = format!("Let it work in {directory} {}", destination.words());
                offered.offer(GrantKind::Directory, destination.into(), text, payload);
            }
        }
        Update::SetMode { mode, destination } => {
            let effect = match mode.as_str() {
                "acceptEdits" => "edits and common file commands run without asking",
                "bypassPermissions" => "everything runs without asking",
                "auto" => "the agent decides what is safe",
                // The others allow less, or are not known.
                _ => return,
            };
            let payload = json!({"type": "setMode", "mode": mode, "destination": destination.wire_name()});
            let text = format!("Switch to mode {mode} {}: {effect}", destination.words());
            offered.offer(GrantKind::Mode, destination.into(), text, payload);
        }
    }
}

fn offer_rule(rule: &Rule, destination: Destination, offered: &mut OfferedGrants) {
    let tool = &rule.tool_name;
    let words = destination.words();
    let (text, wire) = match rule.rule_content.as_deref() {
        None | Some("") => (
            format!("Allow every use of {tool} {words}"),
            json!({ "toolName": tool }),
        ),
        Some(content) => (
            format!("Allow {tool}({content}) {words}"),
            json!({ "toolName": tool, "ruleContent": content }),
        ),
    };
    let payload = json!({"type": "addRules", "rules": [wire], "behavior": "allow",
        "destination": destination.wire_name()});
    offered.offer(GrantKind::Rule, destination.into(), text, payload);
}

#[cfg(test)]
mod tests {
    use claude_code::RawJson;
    use serde_json::{Value, json};

    use super::offered_grants;
    use crate::event::{GrantDestination, GrantKind};

    fn offered(suggestions: &Value) -> Vec<(GrantKind, String, Value)> {
        let raw = RawJson::parse(suggestions.to_string().into()).unwrap();
        let offered = offered_grants(Some(&raw));
        let payload = |id| offered.payloads(&[id]).unwrap().remove(0);
        let list = offered.list().into_iter();
        list.map(|grant| (grant.kind, grant.text, payload(grant.id)))
            .collect()
    }

    #[test]
    fn a_suggestion_of_several_things_becomes_one_grant_for_each() {
        // As the CLI 2.1.325 suggests it for `touch x`, with one more rule.
        let suggested = json!([
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            {"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"},
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch x *"}, {"toolName": "Read"}],
                "behavior": "allow", "destination": "localSettings"}]);
        let rule = |rule: Value| json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"});
        let directory =
            |path: &str| json!({"type": "addDirectories", "directories": [path], "destination": "session"});
        let expected = [
            (
                GrantKind::Rule,
                "Allow Bash(touch x *) in this workspace, for you",
                rule(json!({"toolName": "Bash", "ruleContent": "touch x *"})),
            ),
            (
                GrantKind::Rule,
                "Allow every use of Read in this workspace, for you",
                rule(json!({"toolName": "Read"})),
            ),
            (
                GrantKind::Directory,
                "Let it work in /a for this session",
                directory("/a"),
            ),
            (
                GrantKind::Directory,
                "Let it work in /b for this session",
                directory("/b"),
            ),
            (
                GrantKind::Mode,
                "Switch to mode acceptEdits for this session: edits and common file commands run without asking",
                json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
            ),
        ];
        let expected = expected.map(|(kind, text, payload)| (kind, text.to_owned(), payload));
        assert_eq!(offered(&suggested), expected);
    }

    #[test]
    fn where_a_grant_is_kept_is_part_of_it() {
        let at = |destination: &str| {
            let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow",
                "destination": destination});
            let raw = RawJson::parse(json!([rule]).to_string().into()).unwrap();
            offered_grants(Some(&raw)).list().remove(0)
        };
        let (session, user) = (at("session"), at("userSettings"));
        assert_eq!(session.destination, GrantDestination::Session);
        assert_eq!(user.destination, GrantDestination::User);
        assert_ne!(session.id, user.id);
    }

    #[test]
    fn what_cannot_be_said_exactly_is_not_offered() {
        let rules = json!([{"toolName": "Bash"}]);
        for update in [
            json!({"type": "addRules", "behavior": "deny", "rules": rules, "destination": "session"}),
            json!({"type": "addRules", "behavior": "allow", "rules": rules}),
            json!({"type": "addRules", "behavior": "allow", "rules": rules, "destination": "moon"}),
            json!({"type": "addRules", "behavior": "allow", "rules": rules, "destination": "session", "mode": "x"}),
            json!({"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash", "unless": "x"}],
                "destination": "session"}),
            json!({"type": "replaceRules", "behavior": "allow", "rules": rules, "destination": "session"}),
            json!({"type": "setMode", "mode": "plan", "destination": "session"}),
            json!({"type": "setMode", "mode": "newMode", "destination": "session"}),
            json!({"type": "addDirectories", "directories": "/", "destination": "session"}),
            json!("all"),
            json!(null),
        ] {
            assert_eq!(offered(&json!([update])), []);
        }
        assert_eq!(offered(&json!({"type": "all"})), []);
        assert!(offered_grants(None).list().is_empty());
    }
}
