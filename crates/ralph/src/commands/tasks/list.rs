//! `ralph tasks`: the board as a tree, as a list of what can start, and as JSON.

use std::io::IsTerminal as _;

use ralph_tasks::{Board, Card, Claim, Column, NotStarted, TaskId};
use serde::Serialize;

use super::{TasksArgs, Workplace};
use crate::console::{
    Mode, Options, Stdout, TaskTree, render_json_pretty, render_ready_tasks, render_task_tree,
    terminal_width, write_stderr, write_stdout,
};
use crate::settings::ColorChoice;

/// A task for programs.
#[derive(Debug, Serialize)]
pub(super) struct Listed<'a> {
    id: &'a TaskId,
    title: &'a str,
    column: Column,
    /// Absent if it can start now, is worked on or is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why<'a>>,
    priority: u8,
    parent: Option<&'a TaskId>,
    depends_on: Vec<&'a TaskId>,
    touches: &'a [String],
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a Claim>,
}

#[derive(Debug, Serialize)]
struct Why<'a> {
    #[serde(flatten)]
    reason: &'a NotStarted,
    /// For people.
    text: String,
}

impl<'a> Listed<'a> {
    pub(super) fn new(card: &'a Card<'a>) -> Self {
        let task = card.task;
        Self {
            id: &task.id,
            title: &task.title,
            column: card.column,
            why: card.why.as_ref().map(|reason| Why {
                reason,
                text: reason.to_string(),
            }),
            priority: task.priority,
            parent: task.parent.as_ref().map(|link| &link.id),
            depends_on: task.depends_on.iter().map(|link| &link.id).collect(),
            touches: &task.touches,
            file: &task.file,
            claim: card.claim,
        }
    }
}

pub(super) async fn execute(
    args: &TasksArgs,
    place: &Workplace,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let read = place.read().await?;
    let board = read.board();
    if args.json {
        let cards: Vec<&Card<'_>> = match args.ready {
            true => board.ready(),
            false => board.cards().collect(),
        };
        let listed: Vec<Listed<'_>> = cards.into_iter().map(Listed::new).collect();
        write_stdout(&render_json_pretty(&listed)?);
    } else if read.backlog.is_empty() {
        write_stdout("There are no tasks yet; `ralph tasks add TITLE` writes one, `ralph plan` several.\n");
    } else {
        let options = options(variables);
        write_stdout(&match args.ready {
            true => render_ready_tasks(&board, &options, args.why),
            false => render_task_tree(
                &board,
                &options,
                TaskTree {
                    shows_why: args.why,
                    shows_done: args.all,
                },
            ),
        });
    }
    note_problems(&board);
    Ok(0)
}

/// Broken files are not in the list, so it must not look complete.
fn note_problems(board: &Board<'_>) {
    let errors = board
        .backlog
        .problems()
        .iter()
        .filter(|problem| problem.is_error());
    match errors.count() {
        0 => {}
        1 => write_stderr("warning: a task file has an error; `ralph tasks check` shows it\n"),
        count => write_stderr(&format!(
            "warning: task files have {count} errors; `ralph tasks check` shows them\n"
        )),
    }
    for claim in board.orphans() {
        let run = ralph_run::short_run_id(&claim.run);
        write_stderr(&format!(
            "warning: run {run} has task {}, whose file is missing or has errors\n",
            claim.task
        ));
    }
}

/// How text looks on this stdout.
fn options(variables: &dyn Fn(&str) -> Option<String>) -> Options {
    let stdout = match std::io::stdout().is_terminal() {
        true => Stdout::Terminal {
            width: terminal_width(),
        },
        false => Stdout::Other,
    };
    Options::resolve(Mode::Default, ColorChoice::Auto, stdout, variables)
}
