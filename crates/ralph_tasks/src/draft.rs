//! `Draft`: a task that is about to be written as a file.

use crate::folder::TASKS_FOLDER;
use crate::id::TaskId;
use crate::task::Task;
use crate::yaml_text::{list, scalar};

const MAX_SLUG_CHARACTERS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: TaskId,
    pub title: String,
    pub body: String,
    pub parent: Option<TaskId>,
    pub depends_on: Vec<TaskId>,
    pub priority: u8,
    pub touches: Vec<String>,
    pub verify: Vec<String>,
}

impl Draft {
    pub fn new(id: TaskId, title: impl Into<String>) -> Self {
        Self {
            id,
            title: title.into(),
            body: String::new(),
            parent: None,
            depends_on: Vec::new(),
            priority: Task::DEFAULT_PRIORITY,
            touches: Vec::new(),
            verify: Vec::new(),
        }
    }

    /// Its file, relative to the top of the repository.
    pub fn file(&self) -> String {
        let slug = slug(&self.title);
        let dash = if slug.is_empty() { "" } else { "-" };
        format!("{TASKS_FOLDER}/{}{dash}{slug}.md", self.id)
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let ids = |ids: &[TaskId]| list(&ids.iter().map(TaskId::to_string).collect::<Vec<_>>());
        let mut text = format!(
            "---\nid: {}\ntitle: {}\nstatus: todo\n",
            scalar(self.id.as_str()),
            scalar(&self.title)
        );
        if let Some(parent) = &self.parent {
            text.push_str(&format!("parent: {}\n", scalar(parent.as_str())));
        }
        if !self.depends_on.is_empty() {
            text.push_str(&format!("depends_on: {}\n", ids(&self.depends_on)));
        }
        if self.priority != Task::DEFAULT_PRIORITY {
            text.push_str(&format!("priority: {}\n", self.priority));
        }
        if !self.touches.is_empty() {
            text.push_str(&format!("touches: {}\n", list(&self.touches)));
        }
        if !self.verify.is_empty() {
            text.push_str(&format!("verify: {}\n", list(&self.verify)));
        }
        text.push_str("---\n");
        let body = self.body.trim();
        if !body.is_empty() {
            text.push_str(&format!("\n{body}\n"));
        }
        text
    }
}

/// A title as the readable part of a file name.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in title.chars() {
        if slug.len() >= MAX_SLUG_CHARACTERS {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Draft, slug};
    use crate::parse::parse_task;

    #[test]
    fn a_slug_is_short_and_safe_as_a_file_name() {
        assert_eq!(slug("Parse: the ../../etc file!"), "parse-the-etc-file");
        assert_eq!(slug("日本"), "");
        assert!(slug(&"word ".repeat(50)).len() <= 40);
    }

    #[test]
    fn a_draft_is_read_back_as_the_task_that_was_meant() {
        let id = |text: &str| text.parse::<crate::TaskId>().unwrap();
        let mut draft = Draft::new(id("k3f9a"), "Fix #12: \"quotes\"");
        draft.body = "What to do.\n\n## Done when\n- tests pass".to_owned();
        draft.parent = Some(id("00001"));
        draft.depends_on = vec![id("abcde"), id("12345")];
        draft.priority = 0;
        draft.touches = vec!["src/**".to_owned(), "{a,b}.rs".to_owned()];
        draft.verify = vec!["make test".to_owned()];
        let parsed = parse_task(&draft.file(), &draft.render());
        assert_eq!(parsed.problems, []);
        let task = parsed.task.unwrap();
        assert_eq!(task.title, draft.title);
        assert_eq!(task.body, draft.body);
        assert_eq!(task.parent.unwrap().id, id("00001"));
        let depends_on: Vec<_> = task.depends_on.into_iter().map(|link| link.id).collect();
        assert_eq!(depends_on, draft.depends_on);
        assert_eq!((task.priority, task.touches), (0, draft.touches));
        assert_eq!(task.permissions.verify, draft.verify);
    }
}
