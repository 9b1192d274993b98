//! `compose`: builds the text of a prompt from its parts. `IterationPrompt` gives it the parts of an iteration.

use std::borrow::Cow;

use super::tail::{tail, tail_within};

/// How much of a role's last message the next role gets.
const HANDOVER_LINES: usize = 500;
const HANDOVER_BYTES: usize = 32 * 1024;

/// What a prompt is made of. What is `None` or blank leaves no trace in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct PromptParts<'a> {
    /// How to work, from the mode. Never cut, and always first.
    pub instructions: Option<&'a str>,
    /// What the user wants. Never cut.
    pub task: &'a str,
    /// Counts from 1; 0 without a loop.
    pub iteration: u32,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
    /// Who works, in a loop of roles.
    pub role: Option<RoleParts<'a>>,
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
pub struct RoleParts<'a> {
    pub name: &'a str,
    /// Whether it continues a session of its own.
    pub keeps_session: bool,
    /// The role before, and its last message.
    pub handover: Option<(&'a str, &'a str)>,
}

#[derive(Debug, Clone, Copy)]
pub struct Memory<'a> {
    /// The file, relative to the workspace.
    pub path: &'a str,
    /// Its content. The prompt has its end.
    pub text: &'a str,
}

/// The prompt of an iteration. The same parts give the same text, byte by byte; all but instructions and task is within
/// the bounds of [`tail`] and [`tail_within`].
pub fn compose(parts: &PromptParts<'_>) -> String {
    let mut prompt = String::new();
    if let Some(instructions) = parts.instructions.filter(|text| !text.trim().is_empty()) {
        prompt.push_str(instructions.trim_end());
        prompt.push_str("\n\n");
    }
    prompt.push_str(parts.task.trim_end());
    let (handover_heading, handover) = handover(parts).unzip();
    let sections = [
        ("This iteration", this_iteration(parts)),
        (handover_heading.as_deref().unwrap_or_default(), handover),
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
        let number = parts.iteration;
        sentences.push(match &parts.role {
            None => format!(
                "This is iteration {number}{limit} of a loop that repeats this prompt. Each one starts without the \
                 conversation of the last: only the files carry over."
            ),
            Some(RoleParts {
                name,
                keeps_session: false,
                ..
            }) => format!(
                "This is iteration {number}{limit} of a loop in which several roles take turns at this task. Your role \
                 is `{name}`. You start without the conversation of the others: only the files and the last message of \
                 the role before you carry over."
            ),
            Some(RoleParts { name, .. }) => format!(
                "This is iteration {number}{limit} of a loop in which several roles take turns at this task. Your role \
                 is `{name}`. You keep your own conversation; of the others, only the files and the last message of the \
                 role before you carry over."
            ),
        });
        if let Some(memory) = parts.memory {
            sentences.push(format!(
                "Keep what the next iteration must know in `{}`.",
                memory.path
            ));
        }
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The heading and the text.
fn handover(parts: &PromptParts<'_>) -> Option<(String, String)> {
    let (from, text) = parts.role?.handover?;
    let text = tail_within(text, HANDOVER_LINES, HANDOVER_BYTES);
    (!text.is_empty()).then(|| (format!("The last message of `{from}`"), fenced(&text)))
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
