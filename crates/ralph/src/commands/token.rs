//! `ralph token`: tokens for scripts and other people, each with its own rights.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use ralph_run::{Home, RUN_ID_VARIABLE};
use ralph_server::{NewToken, Scope, StartLimits, TokenEntry, TokenFile, rotate_server_token};
use run_view::parse_duration;
use serde::Serialize;

use super::listing::{columns, render_table};
use super::start_limits::{StartLimitArgs, describe};
use crate::console::{render_json_pretty, write_stderr, write_stdout};
use crate::failure::Failure;

/// Make, list and revoke tokens of the server
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph token create ci --scope read --expires 30d
  ralph token create phone --scope steer --workspace ~/project
  ralph token create bot --scope start --workspace ~/a --max-day-cost 20
  ralph token list
  ralph token revoke ci
  ralph token rotate           replace the server token

Scripts send a token as `Authorization: Bearer TOKEN`; the page takes it at its
login. A running server notices every change at once.")]
pub struct TokenArgs {
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum TokenCommand {
    /// Make a token, and print it once
    Create(CreateArgs),
    /// List tokens
    List(ListArgs),
    /// Remove a token, and close what was opened with it
    Revoke(RevokeArgs),
    /// Replace the server token, and log all browsers out
    #[command(after_help = "Examples:
  ralph token rotate")]
    Rotate,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph token create ci --scope read --expires 30d
  ralph token create phone --scope steer --workspace ~/project
  ralph token create bot --scope start --workspace ~/a --workspace ~/b
  ralph token create night --scope start --max-run-cost 5 --max-day-cost 20
  ralph token create guest --scope start --permission-mode ask --max-live-runs 3

A token with `--workspace` finds no runs elsewhere. The other limits need scope
`start` or `admin`; they count the runs that were started with the token.")]
pub struct CreateArgs {
    /// Name of the token, as journals and the access log show it
    pub name: String,

    /// What it allows; each scope includes those before it
    #[arg(long)]
    pub scope: TokenScope,

    /// Let it expire after this time, such as 12h or 30d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub expires: Option<Duration>,

    #[command(flatten)]
    pub limits: StartLimitArgs,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph token list
  ralph token list --json")]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph token revoke ci")]
pub struct RevokeArgs {
    /// Name of the token
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenScope {
    /// See runs, their output, files, costs and metrics
    Read,
    /// Send messages, answer requests, stop runs; agents can run programs because of that
    Steer,
    /// Start, resume and fork runs, give permissions that last, turn permission checks off
    Start,
    /// Delete runs, see and end all login sessions
    Admin,
}

impl From<TokenScope> for Scope {
    fn from(scope: TokenScope) -> Self {
        match scope {
            TokenScope::Read => Self::Read,
            TokenScope::Steer => Self::Steer,
            TokenScope::Start => Self::Start,
            TokenScope::Admin => Self::Admin,
        }
    }
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    name: &'a str,
    scope: Scope,
    workspaces: &'a [PathBuf],
    limits: &'a StartLimits,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    is_expired: bool,
}

/// Does what was asked for. Gives the exit code.
pub fn execute(
    args: &TokenArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    home.prepare()?;
    let file = TokenFile::in_directory(home.state_directory());
    match &args.command {
        TokenCommand::List(args) => list(args, &file)?,
        TokenCommand::Create(args) => {
            refuse_agents(variables)?;
            create(args, &file, cwd)?;
        }
        TokenCommand::Revoke(args) => {
            refuse_agents(variables)?;
            file.revoke(&args.name)?;
            write_stderr(&format!("ralph: token {} is revoked\n", args.name));
        }
        TokenCommand::Rotate => {
            refuse_agents(variables)?;
            let path = rotate_server_token(home.state_directory())?;
            write_stderr(&format!(
                "ralph: the new server token is in `{}`; all browsers have to log in again\n",
                path.display()
            ));
        }
    }
    Ok(0)
}

/// Prevents that an agent gives itself rights by accident. It cannot prevent intent: an agent can do anything its user can.
fn refuse_agents(variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    match variables(RUN_ID_VARIABLE) {
        Some(run) => Err(Failure::config(format!(
            "an agent cannot change tokens (this is run `{run}`): ask the user to run `ralph token`"
        ))),
        None => Ok(()),
    }
}

fn create(args: &CreateArgs, file: &TokenFile, cwd: &Path) -> anyhow::Result<()> {
    let now = Timestamp::now();
    if args.expires.is_some_and(|time| time.is_zero()) {
        return Err(Failure::config(
            "`--expires` must be more than 0; leave it out for a token that does not expire",
        )
        .into());
    }
    let expires_at = args
        .expires
        .map(|time| {
            now.checked_add(time)
                .context("`--expires` is too far in the future")
        })
        .transpose()?;
    let limits = args.limits.limits()?;
    if Scope::from(args.scope) < Scope::Start && !limits.is_unlimited() {
        return Err(Failure::config(
            "a token that starts no runs has no limits on starts: add `--scope start`, or leave the limits out",
        )
        .into());
    }
    let secret = file.create(
        NewToken {
            name: args.name.clone(),
            scope: args.scope.into(),
            workspaces: args.limits.resolved_workspaces(cwd)?,
            limits,
            expires_at,
        },
        now,
    )?;
    write_stdout(&format!("{secret}\n"));
    write_stderr("ralph: this is shown only once; keep it where only its user can read it\n");
    Ok(())
}

fn list(args: &ListArgs, file: &TokenFile) -> anyhow::Result<()> {
    let (tokens, uses, now) = (file.load()?, file.last_uses(), Timestamp::now());
    let listed: Vec<Listed<'_>> = tokens
        .iter()
        .map(|token: &TokenEntry| Listed {
            name: &token.name,
            scope: token.scope,
            workspaces: &token.workspaces,
            limits: &token.limits,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: uses.get(&token.name).copied(),
            is_expired: token.expires_at.is_some_and(|at| at <= now),
        })
        .collect();
    if args.json {
        write_stdout(&render_json_pretty(&listed)?);
        return Ok(());
    }
    if listed.is_empty() {
        write_stdout("No tokens. `ralph token create NAME --scope read` makes one.\n");
        return Ok(());
    }
    let rows: Vec<[String; 6]> = listed.iter().map(Listed::row).collect();
    let head = [
        "NAME",
        "SCOPE",
        "LAST USED",
        "EXPIRES",
        "LIMITS ON STARTS",
        "WORKSPACES",
    ];
    write_stdout(&render_table(head, &rows, columns()));
    Ok(())
}

impl Listed<'_> {
    fn row(&self) -> [String; 6] {
        let day = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M UTC").to_string();
        let workspaces: Vec<String> = self
            .workspaces
            .iter()
            .map(|directory| directory.display().to_string())
            .collect();
        [
            self.name.to_owned(),
            self.scope.to_string(),
            self.last_used_at.map_or_else(|| "never".to_owned(), day),
            match self.expires_at {
                None => "never".to_owned(),
                Some(_) if self.is_expired => "expired".to_owned(),
                Some(at) => day(at),
            },
            describe(self.limits),
            if workspaces.is_empty() {
                "all".to_owned()
            } else {
                workspaces.join(", ")
            },
        ]
    }
}
