//! `parse_task()`: the text of a task file to a `Task`, with every problem and its position.

use std::time::Duration;

use agent_api::MicroUsd;
use run_view::{excerpt, parse_count, parse_duration, parse_money};
use yaml_tree::{Entry, Node, Position, Value, nearest_word, parse_document};

use crate::folder::TASKS_FOLDER;
use crate::front_matter::FrontMatter;
use crate::id::TaskId;
use crate::problem::Problem;
use crate::task::{Link, Permissions, RunLimits, Status, Task};
use crate::touches::check_pattern;

/// The fields, in the order in which they are written.
pub(crate) const FIELDS: [&str; 12] = [
    "id",
    "title",
    "status",
    "blocked_reason",
    "parent",
    "depends_on",
    "priority",
    "touches",
    "verify",
    "mode",
    "limits",
    "agent",
];
const LIMITS: [&str; 3] = ["max_cost_usd", "max_iterations", "max_runtime_seconds"];
const MAX_TITLE_CHARACTERS: usize = 200;

/// A task file. One with an error has no task, but its id may be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFile {
    /// Relative to the top of the repository.
    pub file: String,
    pub id: Option<TaskId>,
    pub task: Option<Task>,
    /// The task that it is a part of, even if the file has errors. In a merge conflict there can be two.
    pub parents: Vec<TaskId>,
    pub problems: Vec<Problem>,
}

impl ParsedFile {
    pub(crate) fn unreadable(file: &str, message: String) -> Self {
        let at = Position { line: 1, column: 1 };
        Self {
            file: file.to_owned(),
            id: id_of_name(file),
            task: None,
            parents: Vec::new(),
            problems: vec![Problem::error(file, at, message)],
        }
    }

    /// Something in the folder that is no task file.
    pub(crate) fn ignored(file: &str) -> Self {
        let at = Position { line: 1, column: 1 };
        let message = format!("this is ignored: tasks are files `*.md` directly in `{TASKS_FOLDER}`");
        Self {
            file: file.to_owned(),
            id: None,
            task: None,
            parents: Vec::new(),
            problems: vec![Problem::warning(file, at, message)],
        }
    }
}

/// Reads a task file. `file` is its path, relative to the top of the repository.
pub fn parse_task(file: &str, text: &str) -> ParsedFile {
    let mut reader = Reader {
        file,
        problems: Vec::new(),
    };
    let task = reader.read(text);
    let id = task.as_ref().map(|task| task.id.clone());
    let parents = match task.as_ref().and_then(|task| task.parent.as_ref()) {
        Some(parent) => vec![parent.id.clone()],
        None => named_parents(text),
    };
    let has_error = reader.problems.iter().any(Problem::is_error);
    ParsedFile {
        file: file.to_owned(),
        id: id.or_else(|| id_of_name(file)),
        task: task.filter(|_| !has_error),
        parents,
        problems: reader.problems,
    }
}

/// The parents that the lines of a file name, however broken its front matter is.
fn named_parents(text: &str) -> Vec<TaskId> {
    let values = text.lines().filter_map(|line| line.strip_prefix("parent:"));
    let words = values.filter_map(|value| value.split_whitespace().next());
    words
        .filter_map(|word| word.trim_matches(['"', '\'']).parse().ok())
        .collect()
}

/// The id that a file name begins with.
fn id_of_name(file: &str) -> Option<TaskId> {
    let name = file.rsplit('/').next()?.strip_suffix(".md")?;
    name.split('-').next()?.parse().ok()
}

struct Reader<'file> {
    file: &'file str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn error(&mut self, at: Position, message: impl Into<String>) {
        self.problems.push(Problem::error(self.file, at, message));
    }

    fn warning(&mut self, at: Position, message: impl Into<String>) {
        self.problems.push(Problem::warning(self.file, at, message));
    }

    /// The task, if it has an id.
    fn read(&mut self, text: &str) -> Option<Task> {
        let matter = match FrontMatter::find(text) {
            Ok(matter) => matter,
            Err((at, message)) => {
                self.error(at, message);
                return None;
            }
        };
        let root = match parse_document(matter.document(text)) {
            Ok(root) => root,
            Err((at, message)) => {
                self.error(at, message);
                return None;
            }
        };
        if let Err((at, message)) = root.require_map("the front matter") {
            self.error(at, message);
            return None;
        }
        self.warn_of_unknown(root.entries(), &FIELDS, "");
        if let Some(at) = matter.conflict_in_body(text) {
            self.error(
                at,
                "unresolved merge conflict: keep one side and remove the markers",
            );
        }
        let end = Position { line: 1, column: 1 };
        let at = root.get("id").map_or(end, |node| node.at);
        let id = self.required(&root, "id").and_then(|text| {
            let id = text.parse::<TaskId>();
            id.map_err(|message| self.error(at, format!("`id` {message}")))
                .ok()
        });
        if let (Some(id), Some(named)) = (&id, id_of_name(self.file))
            && *id != named
        {
            self.warning(
                at,
                format!("the file name begins with `{named}`, but `id` is `{id}`"),
            );
        }
        let title = self.title(&root);
        let status = self.status(&root);
        let blocked_reason = self.text(&root, "blocked_reason");
        let parent = self.parent(&root);
        let depends_on = self.depends_on(&root);
        let priority = self.priority(&root);
        let touches = self.touches(&root);
        let permissions = Permissions {
            verify: self
                .list(&root, "verify")
                .into_iter()
                .map(|(text, _)| text)
                .collect(),
            mode: self.text(&root, "mode"),
            limits: self.limits(&root),
            agent: self.text(&root, "agent"),
        };
        Some(Task {
            id: id?,
            title: title.unwrap_or_default(),
            status,
            blocked_reason,
            parent,
            depends_on,
            priority,
            touches,
            permissions,
            body: matter.body(text).trim().to_owned(),
            file: self.file.to_owned(),
            at,
        })
    }

    fn warn_of_unknown(&mut self, entries: &[Entry], known: &[&str], section: &str) {
        for entry in entries
            .iter()
            .filter(|entry| !known.contains(&entry.key.as_str()))
        {
            let mut message = format!("unknown field `{section}{}`", excerpt(&entry.key));
            if let Some(near) = nearest_word(&entry.key, known.iter().copied()) {
                message.push_str(&format!(", did you mean `{section}{near}`?"));
            }
            self.warning(entry.at, message);
        }
    }

    fn required(&mut self, root: &Node, key: &str) -> Option<String> {
        if root.get(key).is_none() {
            self.error(Position { line: 1, column: 1 }, format!("`{key}` is missing"));
        }
        self.text(root, key)
    }

    /// A value that is not empty.
    fn text(&mut self, root: &Node, key: &str) -> Option<String> {
        let node = root.get(key)?;
        match &node.value {
            Value::Scalar(text) if !text.trim().is_empty() => return Some(text.trim().to_owned()),
            Value::Scalar(_) => self.error(node.at, format!("`{key}` must not be empty")),
            _ => self.error(node.at, format!("`{key}` must be text, not {}", node.describe())),
        }
        None
    }

    /// The values of a list, or the one of a single value.
    fn list(&mut self, root: &Node, key: &str) -> Vec<(String, Position)> {
        let Some(node) = root.get(key) else {
            return Vec::new();
        };
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            Value::Scalar(_) => std::slice::from_ref(node),
            Value::Map(_) | Value::Null => {
                self.error(
                    node.at,
                    format!("`{key}` must be a list, not {}", node.describe()),
                );
                return Vec::new();
            }
        };
        let mut values = Vec::new();
        for item in items {
            match &item.value {
                Value::Scalar(text) if !text.trim().is_empty() => {
                    values.push((text.trim().to_owned(), item.at));
                }
                Value::Scalar(_) => self.error(item.at, format!("an item of `{key}` must not be empty")),
                _ => self.error(
                    item.at,
                    format!("an item of `{key}` must be text, not {}", item.describe()),
                ),
            }
        }
        values
    }

    fn title(&mut self, root: &Node) -> Option<String> {
        let title = self.required(root, "title")?;
        let at = root.get("title").map_or_else(Position::default, |node| node.at);
        if title.contains(['\n', '\r']) {
            self.error(at, "`title` must be a single line");
        } else if title.chars().count() > MAX_TITLE_CHARACTERS {
            self.error(
                at,
                format!("`title` must have at most {MAX_TITLE_CHARACTERS} characters"),
            );
        }
        Some(title)
    }

    fn status(&mut self, root: &Node) -> Status {
        let Some(word) = self.text(root, "status") else {
            return Status::default();
        };
        if let Some(status) = Status::ALL.into_iter().find(|status| status.word() == word) {
            return status;
        }
        let at = root.get("status").map_or_else(Position::default, |node| node.at);
        let known = Status::ALL.map(Status::word);
        let mut message = format!(
            "`status` must be one of {}, not `{}`",
            known.join(", "),
            excerpt(&word)
        );
        if ["doing", "review", "in_progress", "in-progress"].contains(&word.as_str()) {
            message.push_str("; ralph keeps what is being worked on in its state directory");
        } else if let Some(near) = nearest_word(&word, known.into_iter()) {
            message.push_str(&format!("; did you mean `{near}`?"));
        }
        self.error(at, message);
        Status::default()
    }

    fn parent(&mut self, root: &Node) -> Option<Link> {
        let text = self.text(root, "parent")?;
        let at = root.get("parent")?.at;
        self.link("parent", &text, at)
    }

    fn depends_on(&mut self, root: &Node) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for (text, at) in self.list(root, "depends_on") {
            let Some(link) = self.link("depends_on", &text, at) else {
                continue;
            };
            if links.iter().any(|known| known.id == link.id) {
                self.warning(at, format!("`depends_on` names `{}` twice", link.id));
            } else {
                links.push(link);
            }
        }
        links
    }

    fn link(&mut self, key: &str, text: &str, at: Position) -> Option<Link> {
        let id = text.parse();
        let id = id.map_err(|message: String| self.error(at, format!("`{key}` {message}")));
        Some(Link { id: id.ok()?, at })
    }

    fn priority(&mut self, root: &Node) -> u8 {
        let Some(text) = self.text(root, "priority") else {
            return Task::DEFAULT_PRIORITY;
        };
        match text.parse::<u8>() {
            Ok(priority) if priority <= Task::MAX_PRIORITY => priority,
            _ => {
                let at = root
                    .get("priority")
                    .map_or_else(Position::default, |node| node.at);
                self.error(
                    at,
                    format!(
                        "`priority` must be a number from 0 (most urgent) to {}, not `{}`",
                        Task::MAX_PRIORITY,
                        excerpt(&text)
                    ),
                );
                Task::DEFAULT_PRIORITY
            }
        }
    }

    fn touches(&mut self, root: &Node) -> Vec<String> {
        let mut patterns = Vec::new();
        for (pattern, at) in self.list(root, "touches") {
            if let Err(message) = check_pattern(&pattern) {
                self.error(at, format!("`touches`: {message}"));
            }
            if pattern.contains(", ") && !pattern.contains('{') {
                let message =
                    "this is one glob with a comma in it; write several as a list: `[src/**, docs/**]`";
                self.warning(at, message);
            }
            patterns.push(pattern);
        }
        patterns
    }

    fn limits(&mut self, root: &Node) -> RunLimits {
        let Some(node) = root.get("limits") else {
            return RunLimits::default();
        };
        if let Err((at, message)) = node.require_map("`limits`") {
            self.error(at, message);
        }
        self.warn_of_unknown(node.entries(), &LIMITS, "limits.");
        RunLimits {
            cost: self.limit::<MicroUsd>(node, "max_cost_usd", parse_money),
            iterations: self.limit::<u32>(node, "max_iterations", parse_count),
            runtime: self.limit::<Duration>(node, "max_runtime_seconds", parse_duration),
        }
    }

    fn limit<T>(&mut self, node: &Node, key: &str, parse: fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(node, key)?;
        let at = node.get(key)?.at;
        parse(&text)
            .map_err(|message| self.error(at, format!("`limits.{key}` {message}")))
            .ok()
    }
}
