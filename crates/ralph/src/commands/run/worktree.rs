//! `--worktree`: the worktree of a run. It is created and set up before the run, and its leftovers are committed after it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use ralph_run::{Home, VerifySpec, Warned, WarningKind, WorkspaceCloser, run_command_line};
use worktrees::{CheckoutSnapshot, Created, GitEnvironment, NewWorktree, Repository, Worktree, WorktreeName};

use super::super::worktrees::hold;
use super::hidden_env::hidden_variables;
use crate::console::write_stderr;
use crate::failure::Failure;
use crate::settings::{OwnWorktree, Settings, Verbosity};
use run_view::sanitise;

/// The first of the ports that belong to the worktree.
const PORT_VARIABLE: &str = "RALPH_PORT_BASE";
const NAME_VARIABLE: &str = "RALPH_WORKTREE";
const CHECKOUT_VARIABLE: &str = "RALPH_CHECKOUT";

/// They would lead the git of a command elsewhere, if ralph is started by an alias or a hook of git.
const ELSEWHERE: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// The repository around a folder.
pub(in crate::commands) async fn find_repository(home: &Home, folder: &Path) -> anyhow::Result<Repository> {
    home.prepare()?;
    let state = home.state_directory().join("worktrees");
    let found = Repository::find(folder, &state, GitEnvironment::inherit()).await;
    found.map_err(|error| Failure::usage(error.to_string()).into())
}

/// For `--dry-run`: says which worktree would be used.
pub(super) async fn describe(home: &Home, settings: &Settings, name: Option<&str>) -> anyhow::Result<()> {
    let repository = find_repository(home, &settings.workspace).await?;
    let name = choose_name(settings, name)?;
    let verb = match repository.worktree(&name) {
        Ok(_) => "continue",
        Err(_) => "create",
    };
    write_stderr(&format!(
        "ralph: would {verb} the worktree `{name}` on the branch `{}`\n",
        name.branch()
    ));
    Ok(())
}

/// Makes the settings those of a run in a worktree, which is created unless it exists.
pub(super) async fn enter(home: &Home, settings: &mut Settings, name: Option<&str>) -> anyhow::Result<()> {
    let repository = find_repository(home, &settings.workspace).await?;
    let name = choose_name(settings, name)?;
    let new = NewWorktree {
        base: settings.worktree.base.clone(),
        copy: settings.worktree.copy.clone(),
    };
    let Created { worktree, notes } = open(&repository, &name, &new).await?;
    if settings.view.verbosity != Verbosity::Quiet {
        let place = worktree.path.display();
        let (branch, base) = (worktree.branch(), worktree.base_name());
        say(&format!("worktree `{place}`, branch `{branch}` from `{base}`"));
        for note in &notes {
            say(&note.to_string());
        }
    }
    // A run may be for a folder of the repository.
    let below = settings.workspace.strip_prefix(repository.checkout()).ok();
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let folder = below.map(|below| worktree.path.join(below));
    settings.workspace = folder
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(|| worktree.path.clone());
    settings.own_worktree = Some(OwnWorktree {
        name: name.to_string(),
        path: worktree.path.clone(),
        checkout: repository.checkout().to_owned(),
        variables: variables_of(&worktree),
    });
    if !worktree.is_set_up {
        // Two runs that start at once must not set it up both, nor the second one under the agent of the first.
        let _lock = hold(home, &repository, &name)?;
        if !repository.worktree(&name)?.is_set_up {
            set_up(settings, &worktree).await?;
            repository.note_set_up(&name)?;
        }
    }
    Ok(())
}

async fn open(
    repository: &Repository,
    name: &WorktreeName,
    new: &NewWorktree,
) -> Result<Created, worktrees::Error> {
    match repository.worktree(name) {
        Ok(worktree) if !worktree.is_ready => repository.create(name, new).await,
        Ok(worktree) if worktree.path.is_dir() => Ok(Created {
            worktree,
            notes: Vec::new(),
        }),
        Ok(_) => repository.recreate(name, new).await,
        Err(worktrees::Error::Unknown(_)) => repository.create(name, new).await,
        Err(error) => Err(error),
    }
}

/// The name that was given, else the task's, else a new one.
fn choose_name(settings: &Settings, name: Option<&str>) -> anyhow::Result<WorktreeName> {
    if let Some(name) = name {
        return WorktreeName::parse(name).map_err(|error| Failure::usage(error.to_string()).into());
    }
    let named = settings.task.as_deref().and_then(WorktreeName::from_text);
    let new = || {
        let id = agent_api::new_message_id();
        let end: String = id
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .rev()
            .take(6)
            .collect();
        WorktreeName::parse(&format!("run-{}", end.to_ascii_lowercase()))
    };
    Ok(named.map_or_else(new, Ok)?)
}

fn variables_of(worktree: &Worktree) -> std::collections::BTreeMap<String, String> {
    let port = worktree.port_base.map(|port| (PORT_VARIABLE, port.to_string()));
    let fixed = [
        (NAME_VARIABLE, worktree.name.to_string()),
        (CHECKOUT_VARIABLE, worktree.checkout.display().to_string()),
    ];
    let all = fixed.into_iter().chain(port);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What commands in the worktree of a run see besides our own environment.
pub(super) fn variables(settings: &Settings) -> Vec<(OsString, OsString)> {
    let own = settings.own_worktree.iter().flat_map(|own| &own.variables);
    own.map(|(name, value)| (name.into(), value.into())).collect()
}

async fn set_up(settings: &Settings, worktree: &Worktree) -> anyhow::Result<()> {
    let env = CommandsEnv {
        folder: worktree.path.clone(),
        variables: variables(settings),
        withheld: hidden_variables(&settings.notify),
    };
    let is_quiet = settings.view.verbosity == Verbosity::Quiet;
    let ran = run_commands(
        &settings.worktree.setup,
        settings.worktree.setup_timeout,
        &env,
        is_quiet,
    )
    .await;
    ran.map_err(|summary| {
        anyhow::anyhow!(
            "the setup of the worktree failed: {summary}\nThe worktree is kept; run again with `--worktree={}`",
            worktree.name
        )
    })
}

/// Where commands run.
pub(in crate::commands) struct CommandsEnv {
    pub(in crate::commands) folder: PathBuf,
    pub(in crate::commands) variables: Vec<(OsString, OsString)>,
    pub(in crate::commands) withheld: Vec<OsString>,
}

/// Runs commands one after the other, until one fails. The error says which one and the end of its output.
pub(in crate::commands) async fn run_commands(
    commands: &[String],
    timeout: Option<Duration>,
    env: &CommandsEnv,
    is_quiet: bool,
) -> Result<(), String> {
    for command in commands {
        if !is_quiet {
            say(&format!("running `{command}`"));
        }
        let verified = run_command_line(VerifySpec {
            command: command.clone(),
            workspace: env.folder.clone(),
            log: None,
            marker: None,
            environment: env.variables.clone(),
            withheld: env
                .withheld
                .iter()
                .cloned()
                .chain(ELSEWHERE.map(Into::into))
                .collect(),
            timeout,
        })
        .await;
        if verified.is_ok {
            continue;
        }
        let how = match (&verified.error, verified.is_timed_out, verified.exit.code) {
            (Some(error), ..) => error.clone(),
            (None, true, _) => "timed out".to_owned(),
            (None, false, Some(code)) => format!("exited with code {code}"),
            (None, false, None) => "was ended by a signal".to_owned(),
        };
        let output = sanitise(verified.output.trim_end());
        return Err(format!("`{command}` {how}\n{output}"));
    }
    Ok(())
}

fn say(text: &str) {
    write_stderr(&format!("ralph: {}\n", sanitise(text)));
}

/// What happens to the worktree after the run; `None` for a run without one. Takes note of the main checkout, so it is
/// called before the agent starts.
pub(super) async fn closer(home: &Home, settings: &Settings, run: &str) -> Option<Box<dyn WorkspaceCloser>> {
    let own = settings.own_worktree.as_ref()?;
    Some(Box::new(Closer {
        home: home.clone(),
        checkout: own.checkout.clone(),
        name: WorktreeName::parse(&own.name).ok()?,
        run: run.to_owned(),
        before: snapshot(home, &own.checkout).await,
    }))
}

struct Closer {
    home: Home,
    checkout: PathBuf,
    name: WorktreeName,
    run: String,
    before: anyhow::Result<CheckoutSnapshot>,
}

async fn snapshot(home: &Home, checkout: &Path) -> anyhow::Result<CheckoutSnapshot> {
    let repository = find_repository(home, checkout).await?;
    repository
        .snapshot_checkout()
        .await
        .context("cannot compare the checkout")
}

#[async_trait]
impl WorkspaceCloser for Closer {
    async fn close(&self) -> Vec<Warned> {
        let mut warnings = Vec::new();
        if let Err(error) = self.commit(&mut warnings).await {
            let message = format!("what the agent left in its worktree is not committed: {error:#}");
            warnings.push(Warned::new(WarningKind::Degraded, message));
        }
        match self.compare().await {
            Ok(Some(message)) => warnings.push(Warned::new(WarningKind::OutOfScope, message)),
            Ok(None) => {}
            Err(error) => warnings.push(Warned::new(WarningKind::Degraded, format!("{error:#}"))),
        }
        warnings
    }
}

impl Closer {
    async fn commit(&self, warnings: &mut Vec<Warned>) -> anyhow::Result<()> {
        let repository = find_repository(&self.home, &self.checkout).await?;
        let message = format!("Keep what run {} left uncommitted\n", self.run);
        let left = repository.commit_leftovers(&self.name, &message).await?;
        for nested in left.nested {
            let message = format!(
                "`{}` in the worktree is a repository of its own, so its files are not on the branch",
                nested.display()
            );
            warnings.push(Warned::new(WarningKind::Degraded, message));
        }
        Ok(())
    }

    /// Whether the main checkout changed while the agent worked.
    async fn compare(&self) -> anyhow::Result<Option<String>> {
        let before = self
            .before
            .as_ref()
            .map_err(|error| anyhow::anyhow!("{error:#}"))?;
        let after = snapshot(&self.home, &self.checkout).await?;
        Ok(before.changes_to(&after).map(|changes| changes.to_string()))
    }
}
