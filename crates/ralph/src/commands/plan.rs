//! `ralph plan`: an agent proposes tasks, a person accepts them.

mod answer;
mod checkout;
mod prompt;
mod show;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use agent_api::MicroUsd;
use anyhow::Context as _;
use clap::Args;
use ralph_run::{Home, open_linked_file, short_run_id};
use ralph_tasks::{Draft, Proposal, TASKS_FOLDER, TaskId, parse_proposal};
use run_view::parse_money;
use serde::Serialize;

use self::answer::read_answer;
use self::checkout::Checkout;
use self::show::render_proposal;
use super::run::{self, RunArgs};
use super::tasks::{Workplace, refuse_agents};
use super::trust::{ask, is_terminal};
use crate::console::{render_error, render_json, write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{BackendName, Output, SettingsLayer, View, ViewArgs, backend_parser};

/// A longer description is not one that a person has written.
const MAX_DESCRIPTION_BYTES: u64 = 256 << 10;

/// Let an agent propose tasks, and write those you accept
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph plan docs/rfc-12.md
  ralph plan -p \"Add a dark theme to the settings page\"
  ralph plan ROADMAP.md --yes         without asking, for scripts
  gh issue view 12 | ralph plan - --yes

The agent reads the repository in the mode `planner` and answers with tasks.
They are checked, shown, and written to ralph/tasks when you accept them. If a
proposal is invalid, ralph says what is wrong and writes no tasks.")]
pub struct PlanArgs {
    /// File that describes the work; `-` reads stdin
    #[arg(required_unless_present = "prompt", conflicts_with = "prompt")]
    pub file: Option<PathBuf>,

    /// Describe the work here
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,

    /// Write the tasks without asking
    #[arg(short, long)]
    pub yes: bool,

    /// Any directory of the repository [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Agent; see `ralph doctor` [default: auto]
    #[arg(short, long, value_name = "NAME", value_parser = backend_parser())]
    pub backend: Option<BackendName>,

    /// Model name, as the agent's CLI expects it
    #[arg(long)]
    pub model: Option<String>,

    /// Let the agent ask for permission; answer by key or `ralph answer`
    #[arg(long)]
    pub ask: bool,

    /// Cost limit of the planner [default: $10]
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    pub max_cost: Option<MicroUsd>,

    /// Trust ralph.yml for this run only, without asking
    #[arg(long, conflicts_with = "no_trust")]
    pub trust: bool,

    /// Leave out the settings of ralph.yml that need trust
    #[arg(long)]
    pub no_trust: bool,

    #[command(flatten)]
    pub view: ViewArgs,

    /// Extra arguments passed to the agent's CLI
    #[arg(last = true, value_name = "EXTRA")]
    pub extra: Vec<String>,
}

/// A proposed task for programs.
#[derive(Debug, Serialize)]
struct Proposed<'a> {
    id: &'a TaskId,
    title: &'a str,
    body: &'a str,
    parent: Option<&'a TaskId>,
    depends_on: &'a [TaskId],
    priority: u8,
    touches: &'a [String],
    file: String,
}

impl<'a> From<&'a Draft> for Proposed<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self {
            id: &draft.id,
            title: &draft.title,
            body: &draft.body,
            parent: draft.parent.as_ref(),
            depends_on: &draft.depends_on,
            priority: draft.priority,
            touches: &draft.touches,
            file: draft.file(),
        }
    }
}

/// Runs the planner and writes what is accepted. Gives the exit code.
pub async fn execute(
    args: &PlanArgs,
    home: &Home,
    view: &View,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    refuse_agents(variables)?;
    if !args.yes && !is_terminal() {
        return Err(Failure::usage(
            "there is no terminal to ask in; add `--yes` to write the tasks without asking",
        )
        .into());
    }
    let description = description(args, cwd)?;
    let place = Workplace::open(args.directory.as_deref(), home, cwd)?;
    let before = place.folder.load()?;
    let run_args = RunArgs {
        directory: Some(place.folder.repository().to_owned()),
        settings: SettingsLayer {
            prompt: Some(prompt::compose(&description, &before)),
            backend: args.backend.clone(),
            model: args.model.clone(),
            mode: Some("planner".to_owned()),
            ask: args.ask.then_some(true),
            max_cost: args.max_cost,
            // A plan changes nothing that could be verified, and may be about how to repair what fails.
            verify: Some(Vec::new()),
            ..SettingsLayer::default()
        },
        once: true,
        fresh: true,
        trust: args.trust,
        no_trust: args.no_trust,
        view: args.view.clone(),
        extra: args.extra.clone(),
        ..RunArgs::default()
    };
    let root = place.folder.repository();
    let checkout = Checkout::read(root).await;
    let finished = run::carry_out(&run_args, home, variables, cwd).await?;
    let run = short_run_id(&finished.run_id);
    if let Some(checkout) = checkout
        && let Some(warning) = checkout.warning(root).await
    {
        write_stderr(&warning);
    }
    if finished.exit_code != 0 {
        write_stderr(&format!(
            "ralph: the planner did not finish, so no tasks were written; `ralph show {run}` says why\n"
        ));
        return Ok(finished.exit_code);
    }
    let answer = read_answer(home, &finished.run_id)?;
    // Others may have added tasks in the meantime.
    let backlog = place.folder.load()?;
    let proposal = match parse_proposal(&answer, &backlog) {
        Ok(proposal) => proposal,
        Err(errors) => {
            let list = errors.join("\n");
            write_stderr(&render_error(&format!(
                "the proposal is invalid, so no tasks were written (`ralph logs {run}` has the answer):\n{list}"
            )));
            return Ok(1);
        }
    };
    show(&proposal, view)?;
    accept(args, &proposal, &place)
}

fn count(proposal: &Proposal) -> String {
    match proposal.drafts.len() {
        1 => "1 task".to_owned(),
        count => format!("{count} tasks"),
    }
}

/// Prints the proposal, after what the run has printed.
fn show(proposal: &Proposal, view: &View) -> anyhow::Result<()> {
    if view.output == Output::Json {
        let proposed: Vec<Proposed<'_>> = proposal.drafts.iter().map(Proposed::from).collect();
        write_stdout(&render_json(&serde_json::json!({ "proposed": proposed }))?);
        return Ok(());
    }
    let text = render_proposal(proposal, view.verbosity);
    write_stdout(&format!("\nProposed: {}\n\n{text}", count(proposal)));
    Ok(())
}

fn accept(args: &PlanArgs, proposal: &Proposal, place: &Workplace) -> anyhow::Result<u8> {
    let count = count(proposal);
    if !args.yes && !matches!(ask(&format!("\nWrite {count}? [y/N] "))?.as_str(), "y" | "yes") {
        write_stderr("ralph: no tasks were written\n");
        return Ok(1);
    }
    place.folder.create(&proposal.drafts)?;
    write_stderr(&format!(
        "ralph: wrote {count} to `{TASKS_FOLDER}`; read and commit them so that they can be started\n"
    ));
    Ok(0)
}

fn description(args: &PlanArgs, cwd: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    match (&args.prompt, &args.file) {
        (Some(prompt), _) => text.push_str(prompt),
        (None, Some(file)) if file.as_os_str() == "-" => {
            let stdin = std::io::stdin().lock();
            stdin
                .take(MAX_DESCRIPTION_BYTES + 1)
                .read_to_string(&mut text)
                .context("cannot read stdin")?;
        }
        (None, Some(file)) => {
            let path = cwd.join(file);
            let read = open_linked_file(&path)
                .and_then(|file| file.take(MAX_DESCRIPTION_BYTES + 1).read_to_string(&mut text));
            read.with_context(|| format!("cannot read `{}`", path.display()))?;
        }
        (None, None) => {}
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("the description of the work is empty").into());
    }
    if text.len() as u64 > MAX_DESCRIPTION_BYTES {
        let limit = MAX_DESCRIPTION_BYTES >> 10;
        return Err(Failure::usage(format!("the description has more than {limit} KiB; shorten it")).into());
    }
    Ok(text)
}
