//! Which agents are there.

use agent_api::{AgentKind, Error, ReportEntry, RunOptions, Version};
use serde::Serialize;

use super::check::{Check, Level};
use super::login;
use crate::commands::run::{check_bypass, gateway, options};
use crate::settings::Settings;

/// One agent.
#[derive(Debug, Serialize)]
pub(super) struct Agent {
    pub(super) kind: AgentKind,
    pub(super) name: &'static str,
    /// Whether its program is there and answers.
    pub(super) is_usable: bool,
    /// Whether it is more than a demonstration.
    pub(super) is_real: bool,
    pub(super) program: Option<String>,
    pub(super) version: Option<String>,
    /// The oldest and the newest version that ralph was tested with.
    pub(super) tested_versions: Option<(&'static str, &'static str)>,
    pub(super) checks: Vec<Check>,
}

/// Looks for every agent.
pub(super) async fn find(
    settings: &Settings,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Vec<Agent>> {
    let options = options(settings)?;
    let report = gateway(settings)?.detect(&options).await;
    let agents = report.entries.into_iter();
    Ok(agents
        .map(|entry| agent(entry, settings, &options, variables))
        .collect())
}

fn agent(
    entry: ReportEntry,
    settings: &Settings,
    options: &RunOptions,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Agent {
    let mut agent = Agent {
        name: entry.display_name,
        is_usable: entry.found.is_ok(),
        is_real: entry.kind != AgentKind::DEMO,
        program: None,
        version: None,
        tested_versions: entry.tested_versions,
        checks: Vec::new(),
        kind: entry.kind,
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
            .push(Check::ok("program", "comes with ralph: `ralph demo` shows it"));
        return agent;
    }
    agent.program = Some(found.program.display().to_string());
    agent.version = found.version.map(|version| version.to_string());
    agent
        .checks
        .push(Check::ok("program", found.program.display().to_string()));
    agent.checks.extend(version(found.version, entry.tested_versions));
    agent
        .checks
        .extend(login::check(&agent.kind, settings, entry.login_hint, variables));
    match check_bypass(settings, &agent.kind, options, agent_process::is_root()) {
        Ok(None) => {}
        Ok(Some(_)) => agent.checks.push(Check::ok(
            "permissions",
            "it may do everything this user can; `--permission-mode` and `--ask` say otherwise",
        )),
        Err(error) => agent
            .checks
            .push(Check::warning("permissions", error.to_string())),
    }
    agent
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
        return Some(Check::warning("version", "it does not say its version"));
    };
    let tested = format!("the tested {oldest} to {newest}");
    let is_within = |limit: &str, is_right: fn(&Version, &Version) -> bool| {
        Version::find(limit).is_none_or(|limit| is_right(&found, &limit))
    };
    Some(if !is_within(oldest, Version::ge) {
        Check::warning("version", format!("{found} is older than {tested}")).advise("update the agent")
    } else if !is_within(newest, Version::le) {
        Check::ok("version", format!("{found} is newer than {tested}"))
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
