//! `Proposal`: the tasks that a planner proposes, as JSON in its answer. Nothing in it is trusted: it is checked as a
//! whole, shown to a person, and written only then.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::backlog::Backlog;
use crate::draft::Draft;
use crate::id::TaskId;
use crate::parse::{ParsedFile, parse_task};
use crate::problem::Problem;
use crate::task::Task;

/// More tasks at once are not a plan that somebody has read.
pub const MAX_PROPOSED: usize = 100;
const FIELDS: [&str; 7] = [
    "key",
    "title",
    "body",
    "parent",
    "depends_on",
    "priority",
    "touches",
];
/// A body becomes a prompt, and its file has a limit.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Fields that execute or permit: a planner must not set them.
const FORBIDDEN: [&str; 4] = ["verify", "mode", "limits", "agent"];

/// Tasks that fit together and into the backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub drafts: Vec<Draft>,
}

impl Proposal {
    /// The proposed tasks alone, as a backlog. Links to tasks that exist already are not in it.
    pub fn backlog(&self) -> Backlog {
        let parsed = self
            .drafts
            .iter()
            .map(|draft| parse_task(&draft.file(), &draft.render()));
        Backlog::new(parsed)
    }
}

/// Reads the last JSON object with `tasks` of an answer. The tasks may name each other by `key`, and existing tasks by
/// their id.
///
/// # Errors
/// Everything that is wrong, one line each.
pub fn parse_proposal(answer: &str, backlog: &Backlog) -> Result<Proposal, Vec<String>> {
    let tasks = find_tasks(answer).map_err(|error| vec![error])?;
    let mut reader = Reader {
        backlog,
        ids: BTreeMap::new(),
        errors: Vec::new(),
    };
    if tasks.is_empty() {
        reader.errors.push("`tasks` is empty".to_owned());
    }
    if tasks.len() > MAX_PROPOSED {
        return Err(vec![format!(
            "{} tasks are too many at once; the limit is {MAX_PROPOSED}",
            tasks.len()
        )]);
    }
    reader.assign_ids(&tasks);
    let drafts: Vec<Draft> = tasks
        .iter()
        .enumerate()
        .filter_map(|(place, task)| reader.draft(place, task))
        .collect();
    if reader.errors.is_empty() {
        reader.check_together(&drafts);
    }
    match reader.errors.is_empty() {
        true => Ok(Proposal { drafts }),
        false => Err(reader.errors),
    }
}

/// The list `tasks` of the last JSON object that has one: models write text before it, and sometimes an example.
fn find_tasks(answer: &str) -> Result<Vec<Value>, String> {
    let mut found = Err("the answer has no JSON object with a list `tasks`".to_owned());
    let mut end = 0;
    for (start, _) in answer.match_indices('{') {
        if start < end {
            continue;
        }
        let rest = answer.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(mut object))) => {
                end = start + values.byte_offset();
                match object.remove("tasks") {
                    Some(Value::Array(tasks)) => found = Ok(tasks),
                    Some(_) => found = Err("`tasks` must be a list".to_owned()),
                    None => {}
                }
            }
            // Other braces are part of the text.
            Some(Err(problem)) if rest.trim_start_matches('{').trim_start().starts_with("\"tasks\"") => {
                let what = run_view::excerpt(&problem.to_string());
                found = Err(format!(
                    "the JSON object with the list `tasks` is not valid: {what}"
                ));
            }
            _ => {}
        }
    }
    found
}

struct Reader<'a> {
    backlog: &'a Backlog,
    /// By key.
    ids: BTreeMap<String, TaskId>,
    errors: Vec<String>,
}

impl Reader<'_> {
    fn assign_ids(&mut self, tasks: &[Value]) {
        for (place, task) in tasks.iter().enumerate() {
            let Some(key) = task
                .get("key")
                .and_then(Value::as_str)
                .filter(|key| !key.trim().is_empty())
            else {
                continue;
            };
            let is_taken =
                |id: &TaskId| self.backlog.is_taken(id) || self.ids.values().any(|other| other == id);
            let id = TaskId::random(is_taken);
            if self.ids.insert(key.trim().to_owned(), id).is_some() {
                let name = run_view::excerpt(key);
                self.errors
                    .push(format!("task {}: the key `{name}` is used twice", place + 1));
            }
        }
    }

    fn draft(&mut self, place: usize, task: &Value) -> Option<Draft> {
        let Some(object) = task.as_object() else {
            self.errors.push(format!("task {}: must be an object", place + 1));
            return None;
        };
        let title = object.get("title").and_then(Value::as_str).unwrap_or_default();
        let name = match title.trim() {
            "" => format!("task {}", place + 1),
            title => format!("task {} ({})", place + 1, run_view::excerpt(title)),
        };
        let mut fail = |message: String| self.errors.push(format!("{name}: {message}"));
        for key in object.keys() {
            if FORBIDDEN.contains(&key.as_str()) {
                fail(format!("`{key}` can only be set by a person; leave it out"));
            } else if !FIELDS.contains(&key.as_str()) {
                fail(format!("unknown field `{}`", run_view::excerpt(key)));
            }
        }
        let texts = ["key", "title"].map(|field| text(object, field, &mut fail));
        let body = match object.get("body") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(body)) => body.clone(),
            Some(_) => {
                fail("`body` must be text".to_owned());
                String::new()
            }
        };
        if body.len() > MAX_BODY_BYTES {
            fail(format!("`body` must have at most {} KiB", MAX_BODY_BYTES >> 10));
        }
        let priority = match object.get("priority") {
            None | Some(Value::Null) => Task::DEFAULT_PRIORITY,
            Some(value) => {
                let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
                number
                    .filter(|number| *number <= Task::MAX_PRIORITY)
                    .unwrap_or_else(|| {
                        fail(format!(
                            "`priority` must be a number from 0 to {}",
                            Task::MAX_PRIORITY
                        ));
                        Task::DEFAULT_PRIORITY
                    })
            }
        };
        let touches = texts_of(object, "touches", &mut fail);
        let parents = object.get("parent").filter(|parent| !parent.is_null());
        let parent = parents.and_then(|_| text(object, "parent", &mut fail));
        let depends_on = texts_of(object, "depends_on", &mut fail);
        let parent = parent.and_then(|key| self.resolve(&name, "parent", &key));
        let depends_on = depends_on
            .iter()
            .filter_map(|key| self.resolve(&name, "depends_on", key))
            .collect();
        let [Some(key), Some(title)] = texts else {
            return None;
        };
        Some(Draft {
            title,
            body,
            parent,
            depends_on,
            priority,
            touches,
            ..Draft::new(self.ids.get(&key)?.clone(), "")
        })
    }

    fn resolve(&mut self, name: &str, field: &str, key: &str) -> Option<TaskId> {
        let existing = || key.parse().ok().filter(|id| self.backlog.task(id).is_some());
        let id = self.ids.get(key).cloned().or_else(existing);
        if id.is_none() {
            self.errors.push(format!(
                "{name}: `{field}` names `{}`, which is neither a key of this plan nor an existing task",
                run_view::excerpt(key)
            ));
        }
        id
    }

    /// Reads the files as they would be written, together with those that exist.
    fn check_together(&mut self, drafts: &[Draft]) {
        let parsed: Vec<_> = drafts
            .iter()
            .map(|draft| parse_task(&draft.file(), &draft.render()))
            .collect();
        let own: Vec<&str> = parsed.iter().map(|file| file.file.as_str()).collect();
        let existing = self.backlog.tasks().map(|task| ParsedFile {
            file: task.file.clone(),
            id: Some(task.id.clone()),
            task: Some(task.clone()),
            parents: Vec::new(),
            problems: Vec::new(),
        });
        // Without these, tasks that name them would have another error than now.
        let broken = self.backlog.broken().map(|(id, file)| ParsedFile {
            file: file.clone(),
            id: Some(id.clone()),
            task: None,
            parents: Vec::new(),
            problems: Vec::new(),
        });
        let known: Vec<String> = self
            .backlog
            .problems()
            .iter()
            .map(|problem| problem.message.clone())
            .collect();
        let together = Backlog::new(existing.chain(broken).chain(parsed.iter().cloned()));
        let is_new = |problem: &&Problem| {
            problem.is_error() && (own.contains(&problem.file.as_str()) || !known.contains(&problem.message))
        };
        let keys: BTreeMap<&TaskId, &String> = self.ids.iter().map(|(key, id)| (id, key)).collect();
        for problem in together.problems().iter().filter(is_new) {
            // A planner knows its tasks by their keys.
            let mut message = problem.message.clone();
            for (id, key) in &keys {
                message = message.replace(id.as_str(), &run_view::excerpt(key));
            }
            self.errors.push(message);
        }
    }
}

fn text(object: &Map<String, Value>, field: &str, fail: &mut impl FnMut(String)) -> Option<String> {
    match object.get(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => return Some(text.trim().to_owned()),
        Some(Value::String(_)) => fail(format!("`{field}` must not be empty")),
        None => fail(format!("`{field}` is missing")),
        Some(_) => fail(format!("`{field}` must be text")),
    }
    None
}

fn texts_of(object: &Map<String, Value>, field: &str, fail: &mut impl FnMut(String)) -> Vec<String> {
    let items = match object.get(field) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => {
            fail(format!("`{field}` must be a list"));
            return Vec::new();
        }
    };
    let mut texts: Vec<String> = Vec::new();
    for item in items {
        match item.as_str().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) if !texts.iter().any(|known| known == text) => texts.push(text.to_owned()),
            Some(_) => {}
            None => fail(format!("an item of `{field}` must be text")),
        }
    }
    texts
}
