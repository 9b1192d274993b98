//! `Task`: the prompt of a run, read again before each iteration if it comes from a file. Part of `RunSpec`.

use std::fmt;
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
        }
    }

    /// The last text that could be read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads it again. If that fails, the last text stays; returns why, unless that is known already.
    pub(super) async fn refresh(&mut self) -> Option<String> {
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
                self.text = text;
                self.problem = None;
                None
            }
            Err(problem) if self.problem.as_ref() == Some(&problem) => None,
            Err(problem) => {
                self.problem = Some(problem.clone());
                Some(format!("{problem}; continuing with the last prompt"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Task;

    #[tokio::test]
    async fn a_prompt_that_cannot_be_read_any_more_stays_and_is_reported_once() {
        let next = Arc::new(Mutex::new(Ok("two".to_owned())));
        let read = Arc::clone(&next);
        let mut task = Task::new("one", Some(Arc::new(move || read.lock().unwrap().clone())));
        assert_eq!((task.refresh().await, task.text()), (None, "two"));
        *next.lock().unwrap() = Err("it is gone".to_owned());
        assert_eq!(
            task.refresh().await.as_deref(),
            Some("it is gone; continuing with the last prompt")
        );
        assert_eq!((task.refresh().await, task.text()), (None, "two"));
        *next.lock().unwrap() = Err("it is empty".to_owned());
        assert!(task.refresh().await.is_some());
        *next.lock().unwrap() = Ok("three".to_owned());
        assert_eq!((task.refresh().await, task.text()), (None, "three"));
        assert_eq!(Task::new("fixed", None).refresh().await, None);
    }
}
