//! `ralph trust`, and the question that `ralph run` asks about a `ralph.yml` that is not trusted.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use ralph_run::{Home, RUN_ID_VARIABLE};
use serde::Serialize;

use super::run::RunArgs;
use crate::console::{render_json_pretty, write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{CONFIG_FILE, OpenedFile, find_workspace, open_file};
use crate::trust::{
    Choice, Decision, LeftOut, Listed, Policy, Reason, Subject, TrustStore, look, render_left_out, show,
};

/// Show what a ralph.yml would run, and trust it
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph trust                show what this ralph.yml would run, then ask
  ralph trust --yes ~/work   trust it without asking, for scripts
  ralph trust --list         list trusted workspaces and whether they changed
  ralph trust --revoke       stop trusting it

A ralph.yml can run programs. Until you trust it, only its limits, prompt and
promise apply. Trust covers the file and the scripts it names as they are now:
when one of them changes, ralph asks again.")]
pub struct TrustArgs {
    /// Workspace [default: the top of the git repository]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Trust it without asking
    #[arg(short, long, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,

    /// List trusted workspaces
    #[arg(long, conflicts_with = "directory")]
    pub list: bool,

    /// Stop trusting it
    #[arg(long, conflicts_with = "list")]
    pub revoke: bool,

    /// Print JSON; never asks, and changes nothing without --yes
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// There is no file, or no setting that needs trust.
    NothingToTrust,
    Trusted,
    Untrusted,
    /// It has changed since it was trusted.
    Changed,
    /// Other users could change it, or the stored decision cannot be read.
    Unsafe,
}

impl State {
    fn of(decision: &Decision) -> Self {
        match decision {
            Decision::Trusted => Self::Trusted,
            Decision::Untrusted(Reason::New) => Self::Untrusted,
            Decision::Untrusted(Reason::Changed(_)) => Self::Changed,
            Decision::Untrusted(Reason::Unsafe(_)) => Self::Unsafe,
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    workspace: String,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Settings that need trust.
    settings: Vec<LeftOut>,
    scripts: Vec<String>,
}

/// Shows what the file would run, asks, and stores the answer.
pub fn execute(
    args: &TrustArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    if args.list {
        return list(args, home);
    }
    if args.revoke {
        return revoke(args, home, cwd);
    }
    let workspace = find_workspace(args.directory.as_deref(), cwd)?;
    let subject = look(&workspace)?;
    let has_file = subject.is_some();
    let subject = subject.filter(|subject| !subject.wanted.is_empty());
    let Some(subject) = subject else {
        let path = show(&workspace.join(CONFIG_FILE).to_string_lossy());
        write_stdout(&match (args.json, has_file) {
            (true, _) => render_json_pretty(&nothing(&workspace))?,
            (false, true) => format!("{path} has no settings that need trust.\n"),
            (false, false) => format!("{path} does not exist.\n"),
        });
        return Ok(0);
    };
    let decision = subject.decide(Some(home));
    if args.yes {
        refuse_agents(variables)?;
        subject
            .trust(home, Timestamp::now())
            .map_err(|error| Failure::config(error.to_string()))?;
        if args.json {
            write_stdout(&render_json_pretty(&report(
                &subject,
                &subject.decide(Some(home)),
            ))?);
        } else {
            write_stdout(&description(&subject));
            write_stdout("Trusted.\n");
        }
        return Ok(0);
    }
    if args.json {
        write_stdout(&render_json_pretty(&report(&subject, &decision))?);
        return Ok(0);
    }
    write_stdout(&description(&subject));
    match &decision {
        Decision::Trusted => {
            write_stdout("It is trusted.\n");
            return Ok(0);
        }
        Decision::Untrusted(reason) => write_stdout(&format!("It {reason}.\n")),
    }
    refuse_agents(variables)?;
    if !is_terminal() {
        return Err(Failure::usage(
            "there is no terminal to ask in; review the settings above, then run `ralph trust --yes`",
        )
        .into());
    }
    let answer = ask("Trust it? [y/N] ")?;
    if !matches!(answer.as_str(), "y" | "yes") {
        write_stderr("ralph: not trusted\n");
        return Ok(1);
    }
    subject
        .trust(home, Timestamp::now())
        .map_err(|error| Failure::config(error.to_string()))?;
    write_stderr("ralph: trusted until it changes; undo with `ralph trust --revoke`\n");
    Ok(0)
}

/// Opens the file of a run. If it is not trusted, asks in a terminal; elsewhere the run does not start, because without
/// these settings it would do something else.
pub(super) fn open_for_run(
    args: &RunArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<OpenedFile> {
    if args.trust {
        refuse_agents(variables)?;
    }
    let open = |choice| {
        let policy = Policy {
            home: Some(home),
            choice,
        };
        open_file(args.directory.as_deref(), cwd, &policy)
    };
    let opened = open(match (args.trust, args.no_trust) {
        (true, _) => Choice::Trust,
        (false, true) => Choice::Ignore,
        (false, false) => Choice::AsStored,
    })?;
    if opened.left_out().is_empty() || args.dry_run || args.no_trust {
        return Ok(opened);
    }
    let is_agent = refuse_agents(variables).is_err();
    let subject = look(opened.workspace())?;
    let (Some(subject), true, false) = (subject, is_terminal(), is_agent) else {
        write_stderr(&render_left_out(opened.left_out()));
        return Err(Failure::config(format!(
            "{}; or add `--trust` to trust it for this run, or `--no-trust` to run without these settings",
            opened.refusal()
        ))
        .into());
    };
    write_stderr(&description(&subject));
    if let Decision::Untrusted(reason) = subject.decide(Some(home)) {
        write_stderr(&format!("It {reason}.\n"));
    }
    match ask("[t]rust it and run, run [w]ithout these settings, or [q]uit? ")?.as_str() {
        "t" | "trust" | "y" | "yes" => {
            subject.trust(home, Timestamp::now()).map_err(|error| {
                Failure::config(format!("{error}; or add `--trust` to trust it for this run"))
            })?;
            // Trust covers what was shown. If the file has changed meanwhile, it is not trusted.
            let opened = open(Choice::AsStored)?;
            if !opened.left_out().is_empty() {
                return Err(Failure::config(opened.refusal()).into());
            }
            Ok(opened)
        }
        "w" | "without" => Ok(open(Choice::Ignore)?),
        _ => Err(Failure::config("not started: `ralph.yml` is not trusted").into()),
    }
}

/// Prevents that an agent trusts a file by accident. It cannot prevent intent: an agent can do anything its user can.
fn refuse_agents(variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    match variables(RUN_ID_VARIABLE) {
        Some(run) if !run.is_empty() => Err(Failure::config(format!(
            "an agent cannot trust a `ralph.yml` (this is run `{}`): ask the user to run `ralph trust`",
            show(&run)
        ))),
        _ => Ok(()),
    }
}

fn description(subject: &Subject) -> String {
    let mut text = format!(
        "{} would:\n{}",
        show(&subject.path.to_string_lossy()),
        render_left_out(&subject.wanted)
    );
    let scripts = subject.script_names();
    if !scripts.is_empty() {
        text.push_str(&format!("It names these files: {}\n", scripts.join(", ")));
    }
    text
}

fn report(subject: &Subject, decision: &Decision) -> Report {
    Report {
        workspace: show(&subject.workspace.to_string_lossy()),
        state: State::of(decision),
        reason: match decision {
            Decision::Trusted => None,
            Decision::Untrusted(reason) => Some(reason.to_string()),
        },
        settings: subject.wanted.clone(),
        scripts: subject.script_names(),
    }
}

fn nothing(workspace: &Path) -> Report {
    Report {
        workspace: show(&workspace.to_string_lossy()),
        state: State::NothingToTrust,
        reason: None,
        settings: Vec::new(),
        scripts: Vec::new(),
    }
}

#[derive(Debug, Serialize)]
struct ListedRow {
    workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ralph_version: Option<String>,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn list(args: &TrustArgs, home: &Home) -> anyhow::Result<u8> {
    let rows: Vec<ListedRow> = TrustStore::new(home)
        .list()?
        .iter()
        .map(|listed| row(listed, home))
        .collect();
    if args.json {
        write_stdout(&render_json_pretty(&rows)?);
        return Ok(0);
    }
    if rows.is_empty() {
        write_stdout("No workspace is trusted.\n");
    }
    for row in rows {
        let since = row.trusted_at.map(|at| {
            let date = at.strftime("%Y-%m-%d");
            match row.state {
                State::Trusted => format!(" since {date}"),
                _ => format!(" (trusted on {date})"),
            }
        });
        let state = match (&row.reason, row.state) {
            (Some(reason), _) => reason.clone(),
            (None, State::Trusted) => "is trusted".to_owned(),
            (None, _) => "has no settings that need trust".to_owned(),
        };
        write_stdout(&format!(
            "{}  {state}{}\n",
            row.workspace,
            since.unwrap_or_default()
        ));
    }
    Ok(0)
}

fn row(listed: &Listed, home: &Home) -> ListedRow {
    let entry = match &listed.entry {
        Ok(entry) => entry,
        Err(error) => {
            return ListedRow {
                workspace: show(&listed.path.to_string_lossy()),
                trusted_at: None,
                ralph_version: None,
                state: State::Unsafe,
                reason: Some(show(&error.to_string())),
            };
        }
    };
    let (state, reason) = match entry.workspace.to_path().map(|workspace| look(&workspace)) {
        Some(Ok(Some(subject))) => {
            let decision = subject.decide(Some(home));
            (State::of(&decision), report(&subject, &decision).reason)
        }
        Some(Ok(None)) | None => (State::Changed, Some("has no ralph.yml any more".to_owned())),
        Some(Err(error)) => (State::Unsafe, Some(show(&error.to_string()))),
    };
    ListedRow {
        workspace: show(&entry.workspace.to_string_lossy()),
        trusted_at: Some(entry.trusted_at),
        ralph_version: Some(show(&entry.ralph_version)),
        state,
        reason,
    }
}

fn revoke(args: &TrustArgs, home: &Home, cwd: &Path) -> anyhow::Result<u8> {
    // The workspace may not exist any more.
    let workspace = match &args.directory {
        Some(directory) => cwd.join(directory),
        None => find_workspace(None, cwd)?,
    };
    let workspace = workspace.canonicalize().unwrap_or(workspace);
    let shown = show(&workspace.to_string_lossy());
    let was_trusted = TrustStore::new(home).remove(&workspace)?;
    if args.json {
        write_stdout(&render_json_pretty(
            &serde_json::json!({"workspace": shown, "was_trusted": was_trusted}),
        )?);
    } else if was_trusted {
        write_stdout(&format!("{shown} is no longer trusted.\n"));
    } else {
        write_stdout(&format!("{shown} was not trusted.\n"));
    }
    Ok(0)
}

pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// One line of the terminal, in lower case; empty at its end.
pub(super) fn ask(question: &str) -> io::Result<String> {
    let mut stderr = io::stderr();
    write_stderr(question);
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_lowercase())
}
