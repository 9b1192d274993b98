//! The agents part of `ralph doctor`: which are installed, their versions and logins, and what they lack.

use agent_api::{AgentKind, Detected, Error, Profile, RunOptions, Version, capability};
use serde::Serialize;

use super::check::{Check, Level};
use super::login;
use crate::commands::run::{check_bypass, options, registry};
use crate::settings::{BackendName, Settings};

/// Capabilities whose absence is reported, with their names.
const WANTED: [(&str, &str); 9] = [
    (capability::ANSWER, "permission requests (`--ask`)"),
    (capability::CONFIG_PERMISSIONS, "permission modes"),
    (capability::SEND, "messages while it runs"),
    (capability::SESSION_RESUME, "resuming"),
    (capability::CONFIG_MODEL, "choosing a model"),
    (capability::CONFIG_TOOLS, "tool lists"),
    (capability::CONFIG_SYSTEM_PROMPT, "system prompts"),
    (capability::USAGE, "token counts"),
    (
        capability::COST,
        "costs of its own (ralph estimates them from tokens)",
    ),
];

#[derive(Debug, Serialize)]
pub(super) struct Agent {
    pub(super) kind: AgentKind,
    pub(super) name: &'static str,
    /// What people type after `-b`.
    pub(super) backend: String,
    /// Whether its program is installed and answers.
    pub(super) is_usable: bool,
    /// False for the demo.
    pub(super) is_real: bool,
    pub(super) program: Option<String>,
    pub(super) version: Option<String>,
    /// The oldest and the newest version that ralph was tested with.
    pub(super) tested_versions: Option<(&'static str, &'static str)>,
    /// What the agent does not support.
    pub(super) lacks: Vec<&'static str>,
    pub(super) checks: Vec<Check>,
}

pub(super) async fn find(
    settings: &Settings,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Vec<Agent>> {
    let options = options(settings)?;
    let report = registry(settings)?.detect(&options).await;
    let agents = report.entries.into_iter();
    Ok(agents
        .map(|entry| agent(entry, settings, &options, variables))
        .collect())
}

fn agent(
    entry: Detected,
    settings: &Settings,
    options: &RunOptions,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Agent {
    let profile = &entry.profile;
    let mut agent = Agent {
        name: profile.display_name,
        backend: profile.name().to_owned(),
        is_usable: entry.found.is_ok(),
        is_real: profile.name() != BackendName::demo().as_str(),
        program: None,
        version: None,
        tested_versions: profile.tested_versions,
        lacks: lacks(profile),
        checks: Vec::new(),
        kind: profile.kind.clone(),
    };
    let found = match entry.found {
        Ok(found) => found,
        Err(error) => {
            agent.checks.push(absence(&error));
            return agent;
        }
    };
    if !agent.is_real {
        agent
            .checks
            .push(Check::ok("program", "comes with ralph: run `ralph demo`"));
        return agent;
    }
    agent.program = Some(found.program.display().to_string());
    agent.version = found.version.map(|version| version.to_string());
    agent
        .checks
        .push(Check::ok("program", found.program.display().to_string()));
    agent
        .checks
        .extend(version(found.version, profile.tested_versions));
    agent.checks.extend(login::check(profile, settings, variables));
    match check_bypass(settings, profile, options, crate::current_process::is_root()) {
        Ok(None) => {}
        Ok(Some(_)) => agent.checks.push(Check::ok(
            "permissions",
            "it can do anything you can; `--permission-mode` and `--ask` restrict it",
        )),
        Err(error) => agent
            .checks
            .push(Check::warning("permissions", error.to_string())),
    }
    if !agent.lacks.is_empty() {
        agent.checks.push(Check::ok("lacks", agent.lacks.join(", ")));
    }
    agent
}

fn lacks(profile: &Profile) -> Vec<&'static str> {
    let missing = WANTED.iter().filter(|(id, _)| !profile.has(id));
    missing.map(|(_, name)| *name).collect()
}

fn absence(error: &Error) -> Check {
    match error {
        Error::NotInstalled { program, hint, .. } => Check::new(
            "program",
            Level::Missing,
            format!("`{}` is not installed", program.display()),
        )
        .advise(hint.as_str()),
        other => Check::new("program", Level::Missing, other.to_string()),
    }
}

fn version(found: Option<Version>, tested: Option<(&str, &str)>) -> Option<Check> {
    let (oldest, newest) = tested?;
    let Some(found) = found else {
        return Some(Check::warning("version", "version unknown"));
    };
    let tested = match oldest == newest {
        true => format!("the tested {oldest}"),
        false => format!("the tested {oldest} to {newest}"),
    };
    let is_within = |limit: &str, is_right: fn(&Version, &Version) -> bool| {
        Version::find(limit).is_none_or(|limit| is_right(&found, &limit))
    };
    Some(if !is_within(oldest, Version::ge) {
        Check::warning("version", format!("{found} is older than {tested}")).advise("update the agent")
    } else if !is_within(newest, Version::le) {
        Check::ok("version", format!("{found} is newer than {tested}"))
    } else if oldest == newest {
        Check::ok("version", format!("{found}, which is tested"))
    } else {
        Check::ok("version", format!("{found} is within {tested}"))
    })
}

#[cfg(test)]
mod tests {
    use agent_api::Version;

    use super::super::check::Level;
    use super::version;

    #[test]
    fn a_version_is_held_against_the_tested_ones() {
        let level =
            |found: &str| version(Version::find(found), Some(("1.0.108", "2.1.325"))).map(|it| it.level);
        assert_eq!(level("1.0.108"), Some(Level::Ok));
        assert_eq!(level("2.1.325"), Some(Level::Ok));
        assert_eq!(level("2.2.0"), Some(Level::Ok));
        assert_eq!(level("1.0.9"), Some(Level::Warning));
        assert_eq!(level("no number"), Some(Level::Warning));
        assert_eq!(version(None, None), None);
    }
}
