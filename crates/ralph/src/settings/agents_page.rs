//! Writes `docs/agents.md`: every agent, how it is driven and what it can do, from the profiles in the registry.

use std::fmt::Write as _;

use agent_api::{AgentRegistry, Profile, capability};

const HEAD: &str = "# Agents

Written from the code. Do not edit.

`ralph run -b NAME` runs an agent; `auto`, the default, picks the first installed one in the order of this table. `ralph doctor` shows which ones are installed here. An option that an agent does not support is an error if it is given on the command line, and a warning if it comes from `ralph.yml` or a variable.

`custom` runs a command of your own (`cli.command` in `ralph.yml`), `demo` plays a scripted agent.

";

/// The columns of the table: a title and the capability.
const COLUMNS: [(&str, &str); 10] = [
    ("live text", capability::EVENTS_LIVE),
    ("asks", capability::ANSWER),
    ("permission modes", capability::CONFIG_PERMISSIONS),
    ("messages", capability::SEND),
    ("resume", capability::SESSION_RESUME),
    ("fork", capability::SESSION_FORK),
    ("model", capability::CONFIG_MODEL),
    ("tool lists", capability::CONFIG_TOOLS),
    ("tokens", capability::USAGE),
    ("cost", capability::COST),
];

/// Writes the page about all agents, as Markdown.
pub fn render_agents() -> String {
    let registry = AgentRegistry::builtin();
    let profiles: Vec<&Profile> = registry.backends().map(|backend| backend.profile()).collect();
    let mut page = HEAD.to_owned();
    page.push_str("| name | agent | driven by |");
    for (title, _) in COLUMNS {
        let _ = write!(page, " {title} |");
    }
    let _ = writeln!(page, "\n|---|---|---|{}", "---|".repeat(COLUMNS.len()));
    for profile in &profiles {
        let _ = write!(
            page,
            "| `{}` | {} | {} |",
            profile.name(),
            profile.display_name,
            profile.driven_by
        );
        for (_, id) in COLUMNS {
            page.push_str(if profile.has(id) { " yes |" } else { " – |" });
        }
        page.push('\n');
    }
    page.push_str("\n## Installing and logging in\n\n| name | tested versions | install | log in | API keys (`auth`) |\n|---|---|---|---|---|\n");
    for profile in &profiles {
        let versions = match profile.tested_versions {
            Some((oldest, newest)) if oldest == newest => newest.to_owned(),
            Some((oldest, newest)) => format!("{oldest} to {newest}"),
            None => "–".to_owned(),
        };
        let _ = writeln!(
            page,
            "| `{}` | {versions} | {} | {} | {} |",
            profile.name(),
            profile.install_hint,
            profile.login_hint,
            listed(profile.auth_variables)
        );
    }
    page.push_str("\n## Tools of the built-in modes\n\n| name | `planner` | `coder` | web search |\n|---|---|---|---|\n");
    for profile in profiles
        .iter()
        .filter(|profile| profile.has(capability::CONFIG_TOOLS))
    {
        let tools = &profile.tools;
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            profile.name(),
            listed(tools.planner),
            listed(tools.coder),
            listed(tools.search.as_slice())
        );
    }
    page
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "–".to_owned();
    }
    format!("`{}`", names.join("`, `"))
}
