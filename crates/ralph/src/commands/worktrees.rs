//! `ralph worktrees`: lists worktrees of this repository, removes them, and cleans up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use ralph_run::{Home, Lock, LockInfo};
use run_view::one_line;
use serde_json::{Value, json};
use worktrees::{Cleaned, RemoveMode, Repository, RetentionPolicy, WorktreeName, WorktreeStatus};

use super::clean::format_bytes;
use super::listing::{columns, render_table};
use super::merge::refuse_agents;
use super::run::find_repository;
use crate::console::{render_json_pretty, write_stderr, write_stdout};
use crate::failure::Failure;
use crate::settings::find_workspace;
use crate::settings::values::parse_duration;

/// List, remove and clean up the worktrees of runs
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph worktrees                    list those of this repository
  ralph worktrees remove fix-login   remove a merged one and its branch
  ralph worktrees gc --dry-run       show what could be cleaned up

Nothing that could be work is deleted: what is not merged is kept under
refs/ralph/rescue/, and the files stay in quarantine for a week, or for at
least a day if `gc` needs the space.")]
pub struct WorktreesArgs {
    #[command(subcommand)]
    pub command: Option<WorktreesCommand>,

    /// A folder of the repository [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum WorktreesCommand {
    /// List worktrees with their state, size and distance from their base
    #[command(after_help = "Examples:
  ralph worktrees list
  ralph worktrees list --json")]
    List,
    /// Remove worktrees and their branches
    Remove(RemoveArgs),
    /// Remove merged worktrees that are old, and delete quarantined ones
    Gc(GcArgs),
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph worktrees remove fix-login
  ralph worktrees remove fix-login --force   its work goes to a rescue ref")]
pub struct RemoveArgs {
    /// Names of worktrees
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,

    /// Remove it even if it has unmerged work, which is kept under a rescue ref
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph worktrees gc
  ralph worktrees gc --older-than 1d --max-size 5")]
pub struct GcArgs {
    /// Keep merged and quarantined worktrees for this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "7d")]
    pub older_than: Duration,

    /// Beyond this size, remove the oldest of them earlier, but never within a day
    #[arg(long, value_name = "GB", default_value_t = 20)]
    pub max_size: u64,

    /// Show what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

const HEAD: [&str; 6] = ["NAME", "STATE", "AHEAD", "BEHIND", "SIZE", "BASE"];

pub async fn execute(
    args: &WorktreesArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    if matches!(
        args.command,
        Some(WorktreesCommand::Remove(_) | WorktreesCommand::Gc(_))
    ) {
        refuse_agents(variables)?;
    }
    let workspace = find_workspace(args.directory.as_deref(), cwd)?;
    let repository = find_repository(home, &workspace).await?;
    match &args.command {
        None | Some(WorktreesCommand::List) => list(&repository, args.json).await,
        Some(WorktreesCommand::Remove(remove)) => self::remove(&repository, home, remove, args.json).await,
        Some(WorktreesCommand::Gc(gc)) => clean_up(&repository, home, gc, args.json).await,
    }
}

async fn list(repository: &Repository, is_json: bool) -> anyhow::Result<u8> {
    let mut listed = Vec::new();
    let mut has_failed = false;
    for worktree in repository.worktrees() {
        let status = match worktree {
            Ok(worktree) => repository.status(&worktree.name).await,
            Err(error) => Err(error),
        };
        match status {
            Ok(status) => listed.push(status),
            Err(error) => {
                has_failed = true;
                write_stderr(&format!("ralph: {}\n", one_line(&error.to_string(), 500)));
            }
        }
    }
    if is_json {
        let rows: Vec<Value> = listed.iter().map(as_json).collect();
        write_stdout(&render_json_pretty(&rows)?);
    } else if listed.is_empty() {
        write_stdout("this repository has no worktrees of runs; `ralph run --worktree` makes one\n");
    } else {
        let rows: Vec<[String; HEAD.len()]> = listed.iter().map(row).collect();
        write_stdout(&render_table(HEAD, &rows, columns()));
    }
    Ok(u8::from(has_failed))
}

/// What a worktree has that counts, in a few words.
fn state(status: &WorktreeStatus) -> String {
    let Some(dirt) = status.dirt else {
        return "missing".to_owned();
    };
    if !status.worktree.is_ready {
        return "incomplete".to_owned();
    }
    let mut words = Vec::new();
    if status.occupant.is_some() {
        words.push("in use".to_owned());
    }
    if !dirt.is_clean() {
        words.push(format!("{} uncommitted", dirt.changed + dirt.untracked));
    }
    words.push(match (status.ahead, status.is_merged) {
        (0, _) if status.worktree.merged.is_none() => "no commits".to_owned(),
        (_, true) => "merged".to_owned(),
        (_, false) => "unmerged".to_owned(),
    });
    words.join(", ")
}

fn row(status: &WorktreeStatus) -> [String; HEAD.len()] {
    let gone = if status.has_base { "" } else { " (gone)" };
    [
        status.worktree.name.to_string(),
        state(status),
        status.ahead.to_string(),
        status.behind.to_string(),
        format_bytes(status.size_bytes),
        format!("{}{gone}", status.worktree.base_name()),
    ]
}

fn as_json(status: &WorktreeStatus) -> Value {
    let worktree = &status.worktree;
    json!({
        "name": worktree.name,
        "path": worktree.path,
        "branch": worktree.branch(),
        "base": worktree.base_name(),
        "base_commit": worktree.base_commit,
        "created_at": worktree.created_at,
        "port_base": worktree.port_base,
        "is_missing": status.dirt.is_none(),
        "changed_files": status.dirt.map(|dirt| dirt.changed),
        "untracked_files": status.dirt.map(|dirt| dirt.untracked),
        "ahead": status.ahead,
        "behind": status.behind,
        "has_base": status.has_base,
        "is_merged": status.is_merged,
        "merged": worktree.merged,
        "size_bytes": status.size_bytes,
        "used_by_pid": status.occupant.as_ref().map(|occupant| occupant.pid),
    })
}

async fn remove(
    repository: &Repository,
    home: &Home,
    args: &RemoveArgs,
    is_json: bool,
) -> anyhow::Result<u8> {
    let mode = match args.force {
        true => RemoveMode::Rescue,
        false => RemoveMode::KeepWork,
    };
    let names: Result<Vec<_>, _> = args.names.iter().map(|name| WorktreeName::parse(name)).collect();
    let names = names.map_err(|error| Failure::usage(error.to_string()))?;
    let mut removed = Vec::new();
    let mut has_failed = false;
    for name in names {
        let result = match hold(home, repository, &name) {
            Ok(_lock) => repository.remove(&name, mode).await.map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        match result {
            Ok(done) => removed.push((name, done)),
            Err(error) => {
                has_failed = true;
                write_stderr(&format!("ralph: {}\n", one_line(&format!("{error:#}"), 1_000)));
            }
        }
    }
    if is_json {
        let rows = removed.iter().map(|(name, done)| {
            json!({
                "name": name,
                "rescue": done.rescue,
                "quarantined": done.quarantined,
                "is_branch_deleted": done.is_branch_deleted,
            })
        });
        write_stdout(&render_json_pretty(&rows.collect::<Vec<Value>>())?);
        return Ok(u8::from(has_failed));
    }
    for (name, done) in removed {
        let kept = match &done.rescue {
            Some(rescue) => format!("; its work is kept as `{rescue}`"),
            None => String::new(),
        };
        let branch = match done.is_branch_deleted {
            true => String::new(),
            false => format!("; the branch `{}` stays", name.branch()),
        };
        write_stdout(&format!("removed {name}{kept}{branch}\n"));
    }
    Ok(u8::from(has_failed))
}

/// Refuses a worktree in which a run works, and keeps others out while the lock is held.
pub(super) fn hold(
    home: &Home,
    repository: &Repository,
    name: &WorktreeName,
) -> anyhow::Result<Option<Lock>> {
    let worktree = repository.worktree(name)?;
    if !worktree.path.is_dir() {
        return Ok(None);
    }
    let info = LockInfo {
        run_id: "ralph worktrees".to_owned(),
        pid: std::process::id(),
        since: Timestamp::now(),
    };
    Ok(Some(Lock::workspace(home, &worktree.path, &info)?))
}

async fn clean_up(repository: &Repository, home: &Home, args: &GcArgs, is_json: bool) -> anyhow::Result<u8> {
    let policy = RetentionPolicy {
        keep_for: args.older_than,
        max_bytes: args.max_size.saturating_mul(1_000_000_000),
        is_dry_run: args.dry_run,
    };
    let is_in_use = |path: &Path| {
        let info = LockInfo {
            run_id: "ralph worktrees".to_owned(),
            pid: std::process::id(),
            since: Timestamp::now(),
        };
        Lock::workspace(home, path, &info).is_err()
    };
    let cleaned = repository.clean_up(policy, Timestamp::now(), &is_in_use).await?;
    for (name, error) in &cleaned.failed {
        let error = one_line(&error.to_string(), 1_000);
        write_stderr(&format!("ralph: cannot clean up {name}: {error}\n"));
    }
    if is_json {
        let deleted = cleaned.deleted.iter();
        write_stdout(&render_json_pretty(&json!({
            "removed": cleaned.removed,
            "deleted": deleted.map(|entry| json!({"name": entry.name, "rescue": entry.rescue})).collect::<Vec<_>>(),
            "freed_bytes": cleaned.freed_bytes,
            "remaining_bytes": cleaned.remaining_bytes,
            "is_dry_run": args.dry_run,
        }))?);
    } else {
        write_stdout(&render_cleaned(&cleaned, args.dry_run));
    }
    Ok(u8::from(!cleaned.failed.is_empty()))
}

fn render_cleaned(cleaned: &Cleaned, is_dry_run: bool) -> String {
    let (removed, deleted, freed) = match is_dry_run {
        true => ("would remove", "would delete", "would free"),
        false => ("removed", "deleted", "freed"),
    };
    let mut text = String::new();
    for name in &cleaned.removed {
        text.push_str(&format!("{removed} {name}, which is merged\n"));
    }
    for entry in &cleaned.deleted {
        text.push_str(&format!("{deleted} {} from quarantine\n", entry.name));
    }
    let (bytes, remaining) = (
        format_bytes(cleaned.freed_bytes),
        format_bytes(cleaned.remaining_bytes),
    );
    text.push_str(&format!("{freed} {bytes}; worktrees take {remaining}\n"));
    text
}
