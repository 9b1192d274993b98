//! Task files from a few words, so that a test shows what matters to it.

use ralph_tasks::{Backlog, Base, TaskId, parse_task};

pub(crate) fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

pub(crate) fn file(id: &str) -> String {
    format!("ralph/tasks/{id}.md")
}

/// A task with this id and these further lines of front matter.
pub(crate) fn text(id: &str, lines: &str) -> String {
    let title = if lines.contains("title:") {
        ""
    } else {
        "title: T\n"
    };
    format!("---\nid: {id}\n{title}{lines}\n---\n\nBody.\n")
}

/// A backlog of tasks, each with its id and further lines.
pub(crate) fn backlog(tasks: &[(&str, &str)]) -> Backlog {
    Backlog::new(
        tasks
            .iter()
            .map(|(id, lines)| parse_task(&file(id), &text(id, lines))),
    )
}

/// A commit that has exactly these files.
pub(crate) fn committed(backlog: &Backlog, tasks: &[(&str, &str)]) -> Base {
    let files: Vec<(String, String)> = tasks
        .iter()
        .map(|(id, lines)| (file(id), text(id, lines)))
        .collect();
    Base::of_commit(backlog, |path| {
        let (_, text) = files.iter().find(|(file, _)| file == path)?;
        Some(text.clone())
    })
}

pub(crate) fn messages(backlog: &Backlog) -> Vec<String> {
    backlog.problems().iter().map(ToString::to_string).collect()
}
