//! `ralph tasks`: the backlog of a repository.

mod change;
mod check;
mod list;
mod repository;
mod show;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand, value_parser};
use ralph_run::git::{committed_files, is_readable, start_commit};
use ralph_run::{Home, RUN_ID_VARIABLE};
use ralph_tasks::{Backlog, Base, Board, ClaimStore, Claims, Limits, Task, TaskFolder};

use self::repository::Repository;
use crate::failure::Failure;

/// List, add and change the tasks of a repository
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  ralph tasks                     open tasks, as a tree
  ralph tasks --why               ... and why each is not started
  ralph tasks --ready             what can start now, in order
  ralph tasks add \"Parse dates\" --touches \"src/date/**\"
  ralph tasks done k3f9a
  ralph tasks check               find broken files, unknown ids and cycles

Tasks are Markdown files in ralph/tasks, at the top of the repository. Commit
them: only a committed task can be started. See docs/tasks.md."
)]
pub struct TasksArgs {
    /// Any directory of the repository [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Only tasks that can start, in the order in which they would
    #[arg(long)]
    pub ready: bool,

    /// Say why each task is not started
    #[arg(long)]
    pub why: bool,

    /// Also tasks that are done
    #[arg(short, long)]
    pub all: bool,

    /// Print JSON: all tasks, with column and reason
    #[arg(long)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Option<TasksCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum TasksCommand {
    /// Write a new task
    Add(AddArgs),
    /// Change a task, in an editor unless options say what
    Edit(EditArgs),
    /// Show a task, where it stands and how attempts failed
    Show(ShowTaskArgs),
    /// Mark tasks as done
    Done(DoneArgs),
    /// Keep a task from being started
    Block(BlockArgs),
    /// Let a blocked task start, also after failed attempts
    Unblock(UnblockArgs),
    /// Find what is wrong in task files
    Check(CheckArgs),
}

/// Where a command of `ralph tasks` looks for the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct InRepository {
    /// Any directory of the repository [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks add \"Parse dates\"
  ralph tasks add \"Parse dates\" -e                  write the rest in an editor
  ralph tasks add \"Parse dates\" --body \"Done when tests/date.rs passes.\"
  ralph tasks add \"Time zones\" --parent k3f9a --depends-on 7hx2m
  ralph tasks add \"Leap years\" --priority 0 --touches \"src/date/**\"

Prints the id of the task.")]
pub struct AddArgs {
    /// What is to be done, in a few words
    pub title: String,

    /// What exactly, and how one knows that it is done
    #[arg(long, value_name = "TEXT", conflicts_with = "editor")]
    pub body: Option<String>,

    /// Open the new file in $VISUAL or $EDITOR
    #[arg(short, long)]
    pub editor: bool,

    #[command(flatten)]
    pub fields: FieldArgs,

    #[command(flatten)]
    pub repository: InRepository,
}

/// Fields that can be given when a task is added or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct FieldArgs {
    /// The task that this one is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,

    /// A task that must be done first; repeatable
    #[arg(long, value_name = "ID")]
    pub depends_on: Vec<String>,

    /// From 0 (most urgent) to 4 [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=i64::from(Task::MAX_PRIORITY)))]
    pub priority: Option<u8>,

    /// Files that it will change, as a glob; repeatable
    #[arg(long, value_name = "GLOB")]
    pub touches: Vec<String>,

    /// A command that must succeed; repeatable. Counts once it is committed
    #[arg(long, value_name = "COMMAND")]
    pub verify: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks edit k3f9a                      open the file in an editor
  ralph tasks edit k3f9a --title \"Parse ISO dates\" --priority 1
  ralph tasks edit k3f9a --depends-on 7hx2m --depends-on 2c8qt
  ralph tasks edit k3f9a --parent \"\"          no parent any more

Only the lines of these fields change; comments and order stay.")]
pub struct EditArgs {
    /// Task id or a unique beginning of it
    pub id: String,

    /// The new title
    #[arg(long)]
    pub title: Option<String>,

    /// The new body
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,

    #[command(flatten)]
    pub fields: FieldArgs,

    #[command(flatten)]
    pub repository: InRepository,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks show k3f9a
  ralph tasks show k3 --json")]
pub struct ShowTaskArgs {
    /// Task id or a unique beginning of it
    pub id: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub repository: InRepository,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks done k3f9a
  ralph tasks done k3f9a 7hx2m && git commit -m \"Close tasks\" ralph/tasks

Tasks that wait for it can start once the change is committed.")]
pub struct DoneArgs {
    /// Task ids or unique beginnings of them
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,

    #[command(flatten)]
    pub repository: InRepository,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks block k3f9a --why \"waits for the vendor's answer\"")]
pub struct BlockArgs {
    /// Task id or a unique beginning of it
    pub id: String,

    /// The reason, for people
    #[arg(long, value_name = "TEXT")]
    pub why: String,

    #[command(flatten)]
    pub repository: InRepository,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks unblock k3f9a")]
pub struct UnblockArgs {
    /// Task ids or unique beginnings of them
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,

    #[command(flatten)]
    pub repository: InRepository,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph tasks check
  ralph tasks check && git add ralph/tasks && git commit -m \"Plan\" ralph/tasks

Prints file:line:column and exits with code 1 if there is an error.")]
pub struct CheckArgs {
    #[command(flatten)]
    pub repository: InRepository,
}

/// Does what was asked for. Gives the exit code.
pub async fn execute(
    args: &TasksArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let open = |directory: &Option<PathBuf>| Workplace::open(directory.as_deref(), home, cwd);
    let change = |directory: &Option<PathBuf>| {
        refuse_agents(variables)?;
        open(directory)
    };
    match &args.command {
        None => list::execute(args, &open(&args.directory)?, variables).await,
        Some(TasksCommand::Show(show)) => show::execute(show, &open(&show.repository.directory)?).await,
        Some(TasksCommand::Check(check)) => check::execute(&open(&check.repository.directory)?),
        Some(TasksCommand::Add(add)) => change::add(add, &change(&add.repository.directory)?),
        Some(TasksCommand::Edit(edit)) => change::edit(edit, &change(&edit.repository.directory)?),
        Some(TasksCommand::Done(done)) => change::done(done, &change(&done.repository.directory)?),
        Some(TasksCommand::Block(block)) => change::block(block, &change(&block.repository.directory)?),
        Some(TasksCommand::Unblock(unblock)) => {
            change::unblock(unblock, &change(&unblock.repository.directory)?)
        }
    }
}

/// Keeps an agent from changing the backlog by accident, its own task for example: done is what was merged, and the
/// repository is not the worktree that it works in.
pub(super) fn refuse_agents(variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    match variables(RUN_ID_VARIABLE) {
        Some(run) if !run.is_empty() => Err(Failure::config(format!(
            "an agent cannot change tasks (this is run `{}`): say in your answer what should change",
            run_view::excerpt(&run)
        ))),
        _ => Ok(()),
    }
}

/// The tasks of a repository and the claims on them.
pub(super) struct Workplace {
    pub(super) repository: Repository,
    pub(super) folder: TaskFolder,
    pub(super) claims: ClaimStore,
}

impl Workplace {
    pub(super) fn open(directory: Option<&Path>, home: &Home, cwd: &Path) -> anyhow::Result<Self> {
        let repository = Repository::find(directory, cwd)?;
        Ok(Self {
            folder: TaskFolder::new(&repository.root),
            claims: ClaimStore::new(home.state_directory(), &repository.id)?,
            repository,
        })
    }

    /// Everything that a board is computed from.
    pub(super) async fn read(&self) -> anyhow::Result<Read> {
        let backlog = self.folder.load()?;
        let base = base(&self.repository.root, &backlog).await?;
        let claims = self.claims.load()?;
        Ok(Read {
            backlog,
            base,
            claims,
        })
    }
}

pub(super) struct Read {
    pub(super) backlog: Backlog,
    pub(super) base: Base,
    pub(super) claims: Claims,
}

impl Read {
    pub(super) fn board(&self) -> Board<'_> {
        Board::new(&self.backlog, &self.base, &self.claims, Limits::default())
    }
}

/// What the checked out commit says about the tasks.
async fn base(root: &Path, backlog: &Backlog) -> anyhow::Result<Base> {
    let Some(commit) = start_commit(root).await else {
        // Without a base everything could start, so a git that fails must not look like one.
        if root.join(".git").exists() && !is_readable(root).await {
            anyhow::bail!(
                "git cannot read the repository `{}`; is git installed, and does `git status` work there?",
                root.display()
            );
        }
        return Ok(Base::Missing);
    };
    let paths: Vec<String> = backlog.tasks().map(|task| task.file.clone()).collect();
    let mut files = committed_files(root, &commit, &paths)
        .await
        .context("git cannot read the tasks of the current commit; is the repository complete?")?;
    Ok(Base::of_commit(backlog, |path| files.remove(path)))
}
