//! The prompt of the planner.

use ralph_tasks::{Backlog, MAX_PROPOSED, Status};
use run_view::one_line;

/// Existing tasks that the planner is told about, and how much of each title.
const MAX_EXISTING: usize = 200;
const TITLE_COLUMNS: usize = 120;

/// The description of the work, and the form of the answer.
pub(super) fn compose(description: &str, backlog: &Backlog) -> String {
    let mut prompt = format!(
        "Break the work described below into tasks for coding agents. Read the repository first. Do not change any \
         file.\n\n\
         ## The work\n\n{}\n\n\
         ## Rules\n\n\
         - A task is one change that an agent can finish on its own and a person can review at once.\n\
         - `title` says what changes, in at most 80 characters. `body` says what to do, where, and how one knows that \
         it is done.\n\
         - Group tasks under a parent if that helps a reader. Only tasks without children are worked on; a parent is \
         done when its children are.\n\
         - `depends_on` names tasks that must be merged first. Leave it out where tasks can be done in any order, so \
         that several agents can work at once.\n\
         - `touches` lists globs of the files that a task will change, relative to the top of the repository. Tasks \
         whose globs overlap are not worked on at the same time.\n\
         - `priority` is 0 (most urgent) to 4; 2 is usual.\n\
         - At most {MAX_PROPOSED} tasks. Use no other fields.\n",
        description.trim()
    );
    let open = backlog.tasks().filter(|task| task.status != Status::Done);
    let existing: Vec<String> = open
        .take(MAX_EXISTING)
        .map(|task| format!("- {}: {}", task.id, one_line(&task.title, TITLE_COLUMNS)))
        .collect();
    if !existing.is_empty() {
        prompt.push_str(&format!(
            "\n## Tasks that exist\n\nDo not propose these again. `depends_on` and `parent` may name them by id.\n\n{}\n",
            existing.join("\n")
        ));
    }
    prompt.push_str(FORM);
    prompt
}

const FORM: &str = r#"
## Your answer

End your answer with one JSON object in this form. `key` is a word of your choice by which the tasks name each other.

```json
{
  "tasks": [
    {"key": "dates", "title": "Parse dates", "body": "What this group is about."},
    {
      "key": "iso",
      "title": "Parse ISO 8601 dates",
      "body": "What to do, and where.\n\nDone when …",
      "parent": "dates",
      "depends_on": [],
      "priority": 2,
      "touches": ["src/date/**"]
    }
  ]
}
```
"#;
