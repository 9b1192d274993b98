//! `Task`: the prompt of a run, read again before each iteration if it comes from a file. Part of `RunSpec`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a file may take to be read. A disk that hangs must not keep the run from continuing.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads and checks the prompt again. The error is for people.
pub type TaskReader = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// The prompt of every iteration, or the first message of a conversation.
#[derive(Clone)]
pub struct Task {
    text: String,
    reader: Option<TaskReader>,
    /// Why it could not be read the last time.
    problem: Option<String>,
    file: Option<PathBuf>,
    /// Whether a tool call of the agent changed the file since it was read.
    is_changed_by_agent: bool,
}

impl fmt::Debug for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Task")
            .field("text", &self.text)
            .field("problem", &self.problem)
            .finish_non_exhaustive()
    }
}

impl Task {
    /// A prompt; without a reader it never changes.
    pub fn new(text: impl Into<String>, reader: Option<TaskReader>) -> Self {
        Self {
            text: text.into(),
            reader,
            problem: None,
            file: None,
            is_changed_by_agent: false,
        }
    }

    /// The file that the reader reads, for messages.
    #[must_use]
    pub fn from_file(mut self, file: PathBuf) -> Self {
        self.file = Some(file);
        self
    }

    /// A tool call of the agent changed a file.
    pub(super) fn note_change(&mut self, workspace: &Path, changed: &str) {
        let is_same = |file: &PathBuf| workspace.join(file) == workspace.join(changed);
        self.is_changed_by_agent |= self.file.as_ref().is_some_and(is_same);
    }

    /// The last text that could be read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads it again. If that fails, the last text stays. Returns what people should know, unless they know it already.
    pub(super) async fn refresh(&mut self) -> Option<TaskNews> {
        let reader = self.reader.clone()?;
        let reading = tokio::task::spawn_blocking(move || reader());
        let read = match tokio::time::timeout(READ_TIMEOUT, reading).await {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => Err("the prompt could not be read".to_owned()),
            Err(_) => Err(format!(
                "the prompt could not be read within {} seconds",
                READ_TIMEOUT.as_secs()
            )),
        };
        match read {
            Ok(text) => {
                let is_by_agent = std::mem::take(&mut self.is_changed_by_agent);
                let is_changed = text.trim_end() != self.text.trim_end();
                self.text = text;
                self.problem = None;
                is_changed.then(|| TaskNews::Changed(self.describe_change(is_by_agent)))
            }
            Err(problem) if self.problem.as_ref() == Some(&problem) => None,
            Err(problem) => {
                self.problem = Some(problem.clone());
                let message = format!("{problem}; continuing with the last prompt");
                Some(TaskNews::Problem(message))
            }
        }
    }

    fn describe_change(&self, is_by_agent: bool) -> String {
        let name = match self.file.as_ref().and_then(|file| file.file_name()) {
            Some(name) => format!("`{}`", name.display()),
            None => "the prompt".to_owned(),
        };
        match is_by_agent {
            true => format!("the agent changed {name}; this iteration uses the new text"),
            false => format!("{name} has changed; this iteration uses the new text"),
        }
    }
}

/// What came of reading a prompt again. The text is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TaskNews {
    Changed(String),
    Problem(String),
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use std::path::{Path, PathBuf};

    use super::{Task, TaskNews};

    fn changed(text: &str) -> Option<TaskNews> {
        Some(TaskNews::Changed(format!(
            "{text}; this iteration uses the new text"
        )))
    }

    fn problem(text: &str) -> Option<TaskNews> {
        Some(TaskNews::Problem(format!(
            "{text}; continuing with the last prompt"
        )))
    }

    #[tokio::test]
    async fn a_prompt_that_has_changed_is_reported_with_who_changed_it() {
        let next = Arc::new(Mutex::new("one".to_owned()));
        let read = Arc::clone(&next);
        let reader = move || Ok(read.lock().unwrap().clone());
        let file = PathBuf::from("/project/PROMPT.md");
        let mut task = Task::new("one\n", Some(Arc::new(reader))).from_file(file);
        assert_eq!(task.refresh().await, None);
        "two".clone_into(&mut next.lock().unwrap());
        task.note_change(Path::new("/project"), "src/PROMPT.md");
        assert_eq!(task.refresh().await, changed("`PROMPT.md` has changed"));
        for (text, path) in [("three", "PROMPT.md"), ("four", "/project/PROMPT.md")] {
            text.clone_into(&mut next.lock().unwrap());
            task.note_change(Path::new("/project"), path);
            assert_eq!(task.refresh().await, changed("the agent changed `PROMPT.md`"));
        }
        assert_eq!(task.refresh().await, None);
    }

    #[tokio::test]
    async fn a_prompt_that_cannot_be_read_any_more_stays_and_is_reported_once() {
        let next = Arc::new(Mutex::new(Ok("two".to_owned())));
        let read = Arc::clone(&next);
        let mut task = Task::new("one", Some(Arc::new(move || read.lock().unwrap().clone())));
        let news = changed("the prompt has changed");
        assert_eq!((task.refresh().await, task.text()), (news.clone(), "two"));
        *next.lock().unwrap() = Err("it is gone".to_owned());
        assert_eq!(task.refresh().await, problem("it is gone"));
        assert_eq!((task.refresh().await, task.text()), (None, "two"));
        *next.lock().unwrap() = Err("it is empty".to_owned());
        assert_eq!(task.refresh().await, problem("it is empty"));
        *next.lock().unwrap() = Ok("three".to_owned());
        assert_eq!((task.refresh().await, task.text()), (news, "three"));
        assert_eq!(Task::new("fixed", None).refresh().await, None);
    }
}
