//! `BackendName`: which agent, as people write it in a flag, a variable or `ralph.yml`, checked against the registry.

use std::fmt;
use std::sync::LazyLock;

use agent_api::{AgentRegistry, Profile};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};

use super::values::excerpt;
use yaml_tree::nearest_word;

/// The first installed agent.
const AUTO: &str = "auto";
/// A command from `ralph.yml` that takes a prompt and writes text.
const CUSTOM: &str = "custom";
/// An agent from `ralph.yml` that speaks the Agent Client Protocol.
const ACP: &str = "acp";
/// The scripted agent that comes with ralph.
const DEMO: &str = "demo";

/// The name of a backend, or `auto`. Aliases are replaced by the name they stand for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackendName(String);

/// The profiles of all agents that need no configuration, in order of preference.
static AGENTS: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let registry = AgentRegistry::builtin();
    registry
        .backends()
        .map(|backend| backend.profile().clone())
        .collect()
});

impl BackendName {
    /// The first installed agent.
    pub fn auto() -> Self {
        Self(AUTO.to_owned())
    }

    /// The scripted agent that comes with ralph.
    pub fn demo() -> Self {
        Self(DEMO.to_owned())
    }

    /// As people write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether ralph chooses the agent.
    pub fn is_auto(&self) -> bool {
        self.0 == AUTO
    }

    /// Whether it is a command from `ralph.yml`.
    pub fn is_custom(&self) -> bool {
        self.0 == CUSTOM
    }

    /// Whether it is an agent from `ralph.yml` that speaks the Agent Client Protocol.
    pub fn is_acp(&self) -> bool {
        self.0 == ACP
    }

    /// Whether it is the scripted agent that comes with ralph.
    pub fn is_demo(&self) -> bool {
        self.0 == DEMO
    }

    /// The agent that a program belongs to: the one whose program has that file name, else the preferred one.
    pub(super) fn of_program(program: &std::path::Path) -> Self {
        let stem = program.file_stem().and_then(std::ffi::OsStr::to_str);
        let named = AGENTS.iter().find(|profile| Some(profile.program) == stem);
        named
            .or(AGENTS.first())
            .map_or_else(Self::auto, |profile| Self(profile.name().to_owned()))
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<BackendName> for String {
    fn from(name: BackendName) -> Self {
        name.0
    }
}

impl TryFrom<String> for BackendName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_backend(&text)
    }
}

/// All names, in the order of the documentation: `auto`, the agents, then those that need configuration, then the demo.
pub(super) fn backend_names() -> Vec<String> {
    let agents = AGENTS.iter().map(|profile| profile.name().to_owned());
    let mut names = vec![AUTO.to_owned()];
    names.extend(agents);
    names.extend([CUSTOM, ACP, DEMO].map(str::to_owned));
    names
}

/// A name, an alias or `auto`.
pub(super) fn parse_backend(text: &str) -> Result<BackendName, String> {
    let text = text.trim();
    if let Some(profile) = AGENTS.iter().find(|profile| profile.is_named(text)) {
        return Ok(BackendName(profile.name().to_owned()));
    }
    let names = backend_names();
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(BackendName(name.clone()));
    }
    let nearest = nearest_word(text, names.iter().map(String::as_str));
    let suggestion = nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    Err(format!(
        "must be one of {}, not `{}`{suggestion}",
        names.join(", "),
        excerpt(text)
    ))
}

/// For a flag: the help and the shell completions list all names.
pub fn backend_parser() -> impl TypedValueParser<Value = BackendName> {
    let agents = AGENTS.iter().map(|profile| {
        let kind = Some(profile.kind.as_str()).filter(|kind| *kind != profile.name());
        PossibleValue::new(profile.name())
            .help(profile.display_name)
            .aliases(kind)
            .aliases(profile.aliases)
    });
    let mut values = vec![PossibleValue::new(AUTO).help("The first installed agent")];
    values.extend(agents);
    values.extend([
        PossibleValue::new(CUSTOM).help("A command of your own, `cli.command` in ralph.yml"),
        PossibleValue::new(ACP).help("An agent that speaks ACP, `acp.command` in ralph.yml"),
        PossibleValue::new(DEMO).help("The scripted agent that comes with ralph"),
    ]);
    PossibleValuesParser::new(values).try_map(|text| parse_backend(&text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BackendName, backend_names, parse_backend};

    #[test]
    fn aliases_stand_for_the_name_that_people_type() {
        for text in ["claude", "claude_code", "claude-code", " Claude "] {
            assert_eq!(
                parse_backend(text).map(String::from).as_deref(),
                Ok("claude"),
                "{text}"
            );
        }
        assert!(parse_backend("auto").unwrap().is_auto());
        assert!(parse_backend("custom").unwrap().is_custom());
    }

    #[test]
    fn an_unknown_name_is_an_error_with_all_names_and_the_nearest_one() {
        let message = parse_backend("cluade").unwrap_err();
        assert!(message.contains("did you mean `claude`?"), "{message}");
        for name in backend_names() {
            assert!(message.contains(&name), "{message}");
        }
        assert!(!parse_backend("zzzzzz").unwrap_err().contains("did you mean"));
    }

    #[test]
    fn a_program_belongs_to_the_agent_of_that_name_or_to_the_preferred_one() {
        let of = |program: &str| String::from(BackendName::of_program(Path::new(program)));
        assert_eq!(of("/opt/tools/claude"), "claude");
        assert_eq!(of("./wrapper.sh"), backend_names()[1]);
    }
}
