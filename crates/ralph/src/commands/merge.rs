//! `ralph merge`: merges the work of a run, verified on exactly the commit that its base becomes.

use std::path::Path;

use async_trait::async_trait;
use clap::Args;
use ralph_run::{Home, RUN_ID_VARIABLE};
use run_view::{one_line, sanitise};
use serde_json::json;
use worktrees::{HookError, MergeHooks, MergeOutcome, MergeRequest, Repository, Verification, WorktreeName};

use super::run::{CommandsEnv, RunArgs, find_repository, hidden_variables, run_commands};
use super::run_client;
use super::worktrees::hold;
use crate::console::{render_json_pretty, write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::{Settings, find_workspace, open_file};
use crate::trust::Policy;

/// Merge the work of a run into the branch that it started from
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph merge fix-login                  the worktree of this name
  ralph merge latest                     the worktree of the newest run
  ralph merge fix-login --into develop
  ralph merge fix-login --unverified     without a verify command

In a worktree of its own, the branch is rebased and `worktree.setup` and
`verify` of ralph.yml run; then its base moves to exactly that commit. Your
checkout is only brought up to date if that changes no file you have changed.
After a conflict or a failing command, everything is as it was.")]
pub struct MergeArgs {
    /// Name of the worktree, or a run that worked in one
    #[arg(value_name = "NAME|RUN")]
    pub name: String,

    /// Local branch to merge into [default: the one it was cut from]
    #[arg(long, value_name = "BRANCH")]
    pub into: Option<String>,

    /// Command that must succeed on the merged commit; replaces those of ralph.yml; repeatable
    #[arg(long, value_name = "COMMAND")]
    pub verify: Vec<String>,

    /// Merge even if there is no verify command
    #[arg(long)]
    pub unverified: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn execute(
    args: &MergeArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    refuse_agents(variables)?;
    let (repository, name) = find(args, home, cwd).await?;
    let settings = settings(args, home, variables, &repository)?;
    let _lock = hold(home, &repository, &name)?;
    let worktree = repository.worktree(&name)?;
    let request = MergeRequest {
        into: args.into.clone(),
        allows_unverified: args.unverified,
        copy: settings.worktree.copy.clone(),
    };
    let mut hooks = Commands {
        variables: worktree
            .port_base
            .map(|port| ("RALPH_PORT_BASE".into(), port.to_string().into()))
            .into_iter()
            .chain([
                ("RALPH_WORKTREE".into(), name.as_str().into()),
                (
                    "RALPH_CHECKOUT".into(),
                    repository.checkout().as_os_str().to_owned(),
                ),
            ])
            .collect(),
        settings: &settings,
        is_quiet: args.json,
    };
    let outcome = repository.merge(&name, &request, &mut hooks).await?;
    if args.json {
        write_stdout(&render_json_pretty(&as_json(&name, &outcome))?);
    } else {
        render(&name, &outcome);
    }
    Ok(u8::from(matches!(
        outcome,
        MergeOutcome::Conflict { .. } | MergeOutcome::VerifyFailed { .. }
    )))
}

/// Prevents that an agent merges or removes by accident. It cannot prevent intent: an agent can do anything its user can.
pub(super) fn refuse_agents(variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    match variables(RUN_ID_VARIABLE) {
        Some(run) if !run.is_empty() => Err(Failure::config(format!(
            "an agent can neither merge nor remove worktrees (this is run `{}`): say in your answer what should be done",
            run_view::excerpt(&run)
        ))),
        _ => Ok(()),
    }
}

/// The worktree of this name, else that of the run.
async fn find(args: &MergeArgs, home: &Home, cwd: &Path) -> anyhow::Result<(Repository, WorktreeName)> {
    let here = match find_workspace(None, cwd) {
        Ok(workspace) => find_repository(home, &workspace).await,
        Err(error) => Err(error.into()),
    };
    if let (Ok(repository), Ok(name)) = (&here, WorktreeName::parse(&args.name))
        && repository.worktree(&name).is_ok()
    {
        return Ok((here?, name));
    }
    let run = run_client::find(home, &args.name).map_err(|error| {
        Failure::usage(format!(
            "there is no worktree `{}`, and {error:#}",
            one_line(&args.name, 100)
        ))
    })?;
    let workspace = run_client::load(&run)?.workspace;
    let workspace = Path::new(&workspace);
    let repository = match workspace.is_dir() {
        true => find_repository(home, workspace).await?,
        // Its folder is gone: the branch may still be there.
        false => here?,
    };
    match repository.worktree_around(workspace) {
        Some(worktree) => Ok((repository, worktree.name)),
        None => Err(Failure::usage(format!(
            "run {} did not work in a worktree, so there is nothing to merge; start runs with `--worktree` for that",
            run.short_id()
        ))
        .into()),
    }
}

/// The settings of the main checkout, if its `ralph.yml` is trusted: what verifies must not be left out quietly.
fn settings(
    args: &MergeArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    repository: &Repository,
) -> anyhow::Result<Settings> {
    let checkout = repository.checkout();
    let opened = open_file(Some(checkout), checkout, &Policy::as_stored(home))?;
    if !opened.left_out().is_empty() {
        return Err(Failure::config(opened.refusal()).into());
    }
    let (mut settings, _) = opened.resolve(&RunArgs::default(), variables)?;
    if !args.verify.is_empty() {
        settings.verify.clone_from(&args.verify);
    }
    Ok(settings)
}

/// Setup and verify commands, in the folder of the merge.
struct Commands<'a> {
    settings: &'a Settings,
    variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    is_quiet: bool,
}

#[async_trait]
impl MergeHooks for Commands<'_> {
    async fn verify(&mut self, folder: &Path, _: &str) -> Result<Verification, HookError> {
        let settings = self.settings;
        if settings.verify.is_empty() {
            return Ok(Verification::Unverified);
        }
        let env = CommandsEnv {
            folder: folder.to_owned(),
            variables: self.variables.clone(),
            withheld: hidden_variables(&settings.notify),
        };
        let (setup, timeout) = (&settings.worktree.setup, settings.worktree.setup_timeout);
        run_commands(setup, timeout, &env, self.is_quiet)
            .await
            .map_err(|summary| format!("the setup of the merge failed: {summary}"))?;
        let verified = run_commands(&settings.verify, settings.verify_timeout, &env, self.is_quiet).await;
        Ok(match verified {
            Ok(()) => Verification::Passed,
            Err(summary) => Verification::Failed { summary },
        })
    }
}

fn render(name: &WorktreeName, outcome: &MergeOutcome) {
    match outcome {
        MergeOutcome::Merged(merged) => {
            let commits = match merged.commits {
                1 => "1 commit".to_owned(),
                count => format!("{count} commits"),
            };
            let verified = if merged.is_verified {
                "verified"
            } else {
                "unverified"
            };
            let commit: String = merged.commit.chars().take(10).collect();
            let into = &merged.into;
            write_stdout(&sanitise(&format!(
                "merged {name} into {into}: {commits}, {verified}, now at {commit}\n"
            )));
            write_stderr(&format!(
                "ralph: `ralph worktrees remove {name}` removes the worktree\n"
            ));
        }
        MergeOutcome::AlreadyMerged { into } => {
            write_stdout(&sanitise(&format!(
                "nothing to merge: {into} has all of {name}\n"
            )));
        }
        MergeOutcome::Conflict { into, files } => {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let files = one_line(&files.join(", "), 1_000);
            write_stderr(&sanitise(&format!(
                "ralph: {name} conflicts with {into} in {files}; nothing was changed. Resolve it in the worktree \
                 (`git rebase {into}`), or let the agent do it: `ralph run --worktree={name} -p \"Rebase onto {into}\"`\n"
            )));
        }
        MergeOutcome::VerifyFailed { summary, .. } => {
            write_stderr(&sanitise(&format!(
                "ralph: not merged, nothing was changed: {summary}\n"
            )));
        }
    }
}

fn as_json(name: &WorktreeName, outcome: &MergeOutcome) -> serde_json::Value {
    match outcome {
        MergeOutcome::Merged(merged) => json!({
            "outcome": "merged",
            "name": name,
            "into": merged.into,
            "commit": merged.commit,
            "commits": merged.commits,
            "is_verified": merged.is_verified,
            "advanced_checkout": merged.advanced,
        }),
        MergeOutcome::AlreadyMerged { into } => {
            json!({"outcome": "already_merged", "name": name, "into": into})
        }
        MergeOutcome::Conflict { into, files } => {
            json!({"outcome": "conflict", "name": name, "into": into, "files": files})
        }
        MergeOutcome::VerifyFailed { into, summary } => {
            json!({"outcome": "verify_failed", "name": name, "into": into, "summary": summary})
        }
    }
}
