//! `ralph tasks add`, `edit`, `done`, `block` and `unblock`: change task files. A change that would break the backlog is
//! refused before anything is written.

use anyhow::bail;
use ralph_tasks::{
    Backlog, Claim, ClaimState, Draft, FieldValue, FindTaskError, FolderError, Problem, Status, Task, TaskId,
    parse_task, replace_body, set_field,
};

use super::{AddArgs, BlockArgs, DoneArgs, EditArgs, FieldArgs, UnblockArgs, Workplace};
use crate::console::{write_stderr, write_stdout};
use crate::failure::Failure;

pub(super) fn add(args: &AddArgs, place: &Workplace) -> anyhow::Result<u8> {
    let backlog = place.folder.load()?;
    let mut draft = Draft::new(TaskId::random(|id| backlog.is_taken(id)), args.title.trim());
    draft.body = args.body.clone().unwrap_or_default();
    let FieldArgs {
        parent,
        depends_on,
        priority,
        touches,
        verify,
    } = &args.fields;
    draft.parent = parent
        .as_deref()
        .map(|typed| id_of(&backlog, typed))
        .transpose()?;
    draft.depends_on = ids_of(&backlog, depends_on)?;
    draft.priority = priority.unwrap_or(draft.priority);
    draft.touches.clone_from(touches);
    draft.verify.clone_from(verify);
    refuse_problems(place, &draft.file(), &draft.render())?;
    place.folder.create(std::slice::from_ref(&draft))?;
    if args.editor {
        open_editor(place, &draft.file())?;
    }
    write_stdout(&format!("{}\n", draft.id));
    write_stderr(&format!(
        "ralph: wrote `{}`; commit it so that it can be started\n",
        draft.file()
    ));
    Ok(0)
}

pub(super) fn edit(args: &EditArgs, place: &Workplace) -> anyhow::Result<u8> {
    let backlog = place.folder.load()?;
    let task = match backlog.find(&args.id) {
        Ok(task) => task,
        // A broken file can be repaired in an editor, and only there.
        Err(FindTaskError::Broken { file, .. }) if changes(args).is_none() => {
            return open_editor(place, &file).map(|()| 0);
        }
        Err(error) => return Err(error.into()),
    };
    let Some(FieldArgs {
        parent,
        depends_on,
        priority,
        touches,
        verify,
    }) = changes(args)
    else {
        open_editor(place, &task.file)?;
        return Ok(0);
    };
    let mut fields: Vec<(&str, FieldValue)> = Vec::new();
    if let Some(title) = &args.title {
        fields.push(("title", FieldValue::Text(title.trim().to_owned())));
    }
    match parent.as_deref() {
        None => {}
        Some("") => fields.push(("parent", FieldValue::Absent)),
        Some(typed) => fields.push(("parent", FieldValue::Text(id_of(&backlog, typed)?.to_string()))),
    }
    if !depends_on.is_empty() {
        let given: Vec<String> = depends_on.iter().filter(|id| !id.is_empty()).cloned().collect();
        let ids = ids_of(&backlog, &given)?.iter().map(TaskId::to_string).collect();
        fields.push(("depends_on", list_or_absent(ids)));
    }
    if let Some(priority) = priority {
        fields.push(("priority", FieldValue::Text(priority.to_string())));
    }
    for (field, values) in [("touches", touches), ("verify", verify)] {
        if !values.is_empty() {
            let values = values.iter().filter(|value| !value.is_empty()).cloned().collect();
            fields.push((field, list_or_absent(values)));
        }
    }
    let before = place.folder.read(&task.file)?;
    let mut after = before.clone();
    for (field, value) in &fields {
        after = set_field(&after, field, value)?;
    }
    if let Some(body) = &args.body {
        after = replace_body(&after, body)?;
    }
    refuse_problems(place, &task.file, &after)?;
    place.folder.replace(&task.file, &before, &after)?;
    write_stderr(&format!("ralph: changed `{}`\n", task.file));
    Ok(0)
}

pub(super) fn done(args: &DoneArgs, place: &Workplace) -> anyhow::Result<u8> {
    let backlog = place.folder.load()?;
    let claims = place.claims.load()?;
    let tasks = tasks_of(&backlog, &args.ids)?;
    for task in &tasks {
        if !backlog.children(&task.id).is_empty() {
            bail!(Failure::usage(format!(
                "{} has subtasks, and is done when they are; name them instead",
                task.id
            )));
        }
        if let Some(claim) = claims.get(&task.id).filter(|claim| claim.is_held()) {
            bail!(held(claim));
        }
    }
    for task in tasks {
        if task.status == Status::Done {
            write_stderr(&format!("ralph: {} was done already\n", task.id));
            continue;
        }
        set_status(place, task, Status::Done, None)?;
        write_stderr(&format!("ralph: {} is done; commit `{}`\n", task.id, task.file));
    }
    Ok(0)
}

pub(super) fn block(args: &BlockArgs, place: &Workplace) -> anyhow::Result<u8> {
    let why = args.why.trim();
    if why.is_empty() || why.contains(['\n', '\r']) {
        bail!(Failure::usage(
            "`--why` must be one line that says what the task waits for"
        ));
    }
    let backlog = place.folder.load()?;
    let task = backlog.find(&args.id)?;
    if task.status == Status::Done {
        bail!(Failure::usage(format!(
            "{id} is done; `ralph tasks edit {id}` opens it again",
            id = task.id
        )));
    }
    set_status(place, task, Status::Blocked, Some(why))?;
    let running = place.claims.load()?.remove(&task.id).filter(Claim::is_held);
    let note = running.map_or_else(String::new, |claim| {
        let run = ralph_run::short_run_id(&claim.run);
        match claim.state {
            ClaimState::Review => format!("; the work of run {run} still waits to be merged"),
            ClaimState::Doing | ClaimState::Released => {
                format!("; run {run} still works on it: `ralph stop {run}` ends that")
            }
        }
    });
    write_stderr(&format!("ralph: {} is blocked{note}\n", task.id));
    Ok(0)
}

pub(super) fn unblock(args: &UnblockArgs, place: &Workplace) -> anyhow::Result<u8> {
    let backlog = place.folder.load()?;
    let claims = place.claims.load()?;
    for task in tasks_of(&backlog, &args.ids)? {
        let claim = claims.get(&task.id);
        let is_blocked = task.status == Status::Blocked;
        if is_blocked {
            set_status(place, task, Status::Todo, None)?;
        }
        let has_failed = match claim {
            Some(claim) if claim.is_held() => false,
            Some(_) => place.claims.forget_failures(&task.id)?,
            None => false,
        };
        let done = match (is_blocked, has_failed) {
            (_, true) => "can be tried again",
            (true, false) => "is no longer blocked",
            (false, false) => "was not blocked",
        };
        write_stderr(&format!("ralph: {} {done}\n", task.id));
    }
    Ok(0)
}

/// The fields to change; `None` if only the task is named.
fn changes(args: &EditArgs) -> Option<&FieldArgs> {
    let has_any = args.title.is_some() || args.body.is_some() || args.fields != FieldArgs::default();
    has_any.then_some(&args.fields)
}

fn list_or_absent(values: Vec<String>) -> FieldValue {
    match values.is_empty() {
        true => FieldValue::Absent,
        false => FieldValue::List(values),
    }
}

fn set_status(place: &Workplace, task: &Task, status: Status, reason: Option<&str>) -> anyhow::Result<()> {
    let before = place.folder.read(&task.file)?;
    let reason = reason.map_or(FieldValue::Absent, |reason| FieldValue::Text(reason.to_owned()));
    let after = set_field(&before, "status", &FieldValue::Text(status.to_string()))?;
    let after = set_field(&after, "blocked_reason", &reason)?;
    Ok(place.folder.replace(&task.file, &before, &after)?)
}

fn held(claim: &Claim) -> Failure {
    let run = ralph_run::short_run_id(&claim.run);
    let task = &claim.task;
    Failure::usage(match claim.state {
        ClaimState::Review => {
            format!("the work of run {run} on {task} waits to be merged; merge it or discard it first")
        }
        ClaimState::Doing | ClaimState::Released => {
            format!("run {run} works on {task}; `ralph stop {run}` ends it, then try again")
        }
    })
}

fn id_of(backlog: &Backlog, typed: &str) -> anyhow::Result<TaskId> {
    Ok(backlog.find(typed)?.id.clone())
}

fn ids_of(backlog: &Backlog, typed: &[String]) -> anyhow::Result<Vec<TaskId>> {
    typed.iter().map(|typed| id_of(backlog, typed)).collect()
}

fn tasks_of<'a>(backlog: &'a Backlog, typed: &[String]) -> anyhow::Result<Vec<&'a Task>> {
    typed.iter().map(|typed| Ok(backlog.find(typed)?)).collect()
}

/// Reads the backlog as it would be with this file, and refuses errors that it does not have now.
fn refuse_problems(place: &Workplace, file: &str, text: &str) -> anyhow::Result<()> {
    let before = place.folder.parse()?;
    let others = before.iter().filter(|parsed| parsed.file != file).cloned();
    let after = Backlog::new(others.chain([parse_task(file, text)]));
    let known = Backlog::new(before.iter().cloned());
    let is_new = |problem: &&Problem| {
        let is_known = |other: &Problem| other.file == problem.file && other.message == problem.message;
        problem.is_error() && !known.problems().iter().any(is_known)
    };
    let new: Vec<String> = after
        .problems()
        .iter()
        .filter(is_new)
        .map(|problem| problem.message.clone())
        .collect();
    match new.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("nothing was written: {}", new.join("; "))).into()),
    }
}

/// Opens a file of the backlog, and says afterwards what is wrong in it.
fn open_editor(place: &Workplace, file: &str) -> anyhow::Result<()> {
    let path = place.folder.repository().join(file);
    if std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
        bail!(FolderError::Link { path });
    }
    let opened = ralph_tui::edit_file(&path.to_string_lossy(), None);
    opened.map_err(|error| anyhow::anyhow!("{error}; the file is `{}`", path.display()))?;
    let backlog = place.folder.load()?;
    for problem in backlog.problems().iter().filter(|problem| problem.file == file) {
        write_stderr(&format!("{problem}\n"));
    }
    Ok(())
}
