//! `compose`: builds the prompt of an iteration for the driver and `--dry-run`.

use std::borrow::Cow;

use super::tail::tail;

/// What a prompt is made of. What is `None` or blank leaves no trace in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptParts<'a> {
    /// What the user wants. Never cut, and always first.
    pub task: &'a str,
    /// Counts from 1; 0 without a loop.
    pub iteration: u32,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
    /// The file for notes between iterations; its text is empty until the agent writes it.
    pub memory: Option<Memory<'a>>,
    /// The line by which the agent says that all is done.
    pub completion_promise: Option<&'a str>,
    /// The commands by which that is checked.
    pub verify: &'a [String],
    /// What went wrong in the last iteration, or what a verify command wrote.
    pub last_failure: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
pub struct Memory<'a> {
    /// The file, relative to the workspace.
    pub path: &'a str,
    /// Its content. The prompt has its end.
    pub text: &'a str,
}

/// The prompt of an iteration. The same parts give the same text, byte by byte; all but the task is within
/// the bounds of [`tail`].
pub fn compose(parts: &PromptParts<'_>) -> String {
    let mut prompt = parts.task.trim_end().to_owned();
    let sections = [
        ("This iteration", this_iteration(parts)),
        ("Notes of earlier iterations", notes(parts)),
        ("What went wrong last time", last_failure(parts)),
        ("When you are done", promise(parts)),
    ];
    for (heading, text) in sections {
        if let Some(text) = text {
            prompt.push_str("\n\n## ");
            prompt.push_str(heading);
            prompt.push_str("\n\n");
            prompt.push_str(&text);
        }
    }
    prompt.push('\n');
    prompt
}

fn this_iteration(parts: &PromptParts<'_>) -> Option<String> {
    let mut sentences = Vec::new();
    if parts.iteration > 0 {
        let limit = match parts.max_iterations {
            0 => String::new(),
            limit => format!(" of at most {limit}"),
        };
        sentences.push(format!(
            "This is iteration {}{limit} of a loop that repeats this prompt. Each one starts without the conversation \
             of the last: only the files carry over.",
            parts.iteration
        ));
        if let Some(memory) = parts.memory {
            sentences.push(format!(
                "Keep what the next iteration must know in `{}`.",
                memory.path
            ));
        }
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn notes(parts: &PromptParts<'_>) -> Option<String> {
    let memory = parts.memory?;
    let text = present(memory.text)?;
    Some(format!("From `{}`:\n\n{}", memory.path, fenced(&text)))
}

fn last_failure(parts: &PromptParts<'_>) -> Option<String> {
    let text = present(parts.last_failure?)?;
    Some(fenced(&text))
}

fn promise(parts: &PromptParts<'_>) -> Option<String> {
    let promise = parts
        .completion_promise
        .map(str::trim)
        .filter(|it| !it.is_empty())?;
    let mut text = format!(
        "Only when the whole task is done and checked, end your answer with this line, alone and exactly:\n\n{promise}\n\n\
         Otherwise do not write that line, and the loop continues."
    );
    if !parts.verify.is_empty() {
        text.push_str(" The run completes only if these commands succeed:\n");
        for command in parts.verify {
            text.push_str("\n- `");
            text.push_str(command);
            text.push('`');
        }
    }
    Some(text)
}

fn present(text: &str) -> Option<Cow<'_, str>> {
    (!text.trim().is_empty()).then(|| tail(text))
}

/// In a fence longer than any in the text, so that the text cannot end it and speak as the prompt.
fn fenced(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
