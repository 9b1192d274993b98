//! `check`: what is wrong with a start in itself, whoever asks for it. An error names the field.

use crate::launch::{SessionStart, StartRun};
use crate::problem::{Problem, ProblemCode};

/// A prompt must fit into one line to a runner.
const MAX_PROMPT_BYTES: usize = 900 * 1024;
const MAX_WORD_BYTES: usize = 1024;
const MAX_VERIFY_COMMANDS: usize = 100;
/// It may become an argument of the agent: the kernel takes 128 KiB.
const MAX_SYSTEM_PROMPT_BYTES: usize = 100 * 1024;
const MAX_TOOLS: usize = 1000;

pub(super) fn check(request: &StartRun) -> Result<(), Problem> {
    let words = [
        ("/backend", &request.backend),
        ("/model", &request.model),
        ("/mode", &request.mode),
        ("/task", &request.task),
    ];
    let is_word = |word: &String| word.len() <= MAX_WORD_BYTES && !word.chars().any(char::is_control);
    for (pointer, word) in words {
        if !word.as_ref().is_none_or(is_word) {
            let detail = "a name has at most 1,024 bytes and no control characters";
            return Err(invalid(pointer, detail));
        }
    }
    let prompt = request.prompt.as_deref();
    if prompt.is_some_and(|prompt| prompt.len() > MAX_PROMPT_BYTES) {
        let problem = Problem::new(ProblemCode::TooLarge, "a prompt has at most 900 KiB");
        return Err(problem.in_field("/prompt"));
    }
    if prompt.is_none_or(|prompt| prompt.trim().is_empty()) && request.kind == ralph_run::RunKind::Loop {
        return Err(invalid("/prompt", "a loop needs a prompt"));
    }
    let prompts = [
        ("/system_prompt", request.system_prompt.as_deref()),
        ("/append_system_prompt", request.append_system_prompt.as_deref()),
    ];
    for (pointer, text) in prompts {
        if text.is_some_and(|text| text.trim().is_empty() || text.len() > MAX_SYSTEM_PROMPT_BYTES) {
            let detail = "a system prompt is not empty and has at most 100 KiB";
            return Err(invalid(pointer, detail));
        }
    }
    check_tools(request.allowed_tools.as_deref().unwrap_or_default())?;
    if let SessionStart::ResumeSession { session } | SessionStart::ForkSession { session } = &request.session
        && !is_session_id(session)
    {
        let detail = "the id of a session has 1 to 1,024 bytes, no control characters, and no `-` in front";
        return Err(invalid("/resume/session_id", detail));
    }
    if request.accepts_input == Some(false) && request.kind == ralph_run::RunKind::Session {
        let detail = "a session consists of messages: leave `accepts_input` out, or start a loop";
        return Err(invalid("/accepts_input", detail));
    }
    let verify = request.verify.as_deref().unwrap_or_default();
    if verify.len() > MAX_VERIFY_COMMANDS {
        return Err(invalid("/verify", "too many verify commands"));
    }
    let workspace = request.workspace.to_string_lossy();
    let commands = verify.iter().enumerate();
    let texts = commands
        .map(|(index, command)| (format!("/verify/{index}"), command.as_str()))
        .chain(prompt.map(|prompt| ("/prompt".to_owned(), prompt)))
        .chain(
            prompts
                .into_iter()
                .filter_map(|(pointer, text)| Some((pointer.to_owned(), text?))),
        )
        .chain([("/workspace".to_owned(), workspace.as_ref())]);
    for (pointer, text) in texts {
        if text.contains('\0') {
            let detail = "a text with a NUL character cannot be given to a program";
            return Err(invalid(pointer, detail));
        }
    }
    Ok(())
}

fn check_tools(tools: &[String]) -> Result<(), Problem> {
    if tools.len() > MAX_TOOLS {
        return Err(invalid("/allowed_tools", "there are at most 1,000 tools"));
    }
    let is_tool = |tool: &String| {
        !tool.trim().is_empty()
            && tool.len() <= MAX_WORD_BYTES
            && !tool.starts_with('-')
            && !tool.chars().any(char::is_control)
    };
    match tools.iter().position(|tool| !is_tool(tool)) {
        Some(index) => {
            let detail = "a tool has 1 to 1,024 bytes, no control characters, and no `-` in front";
            Err(invalid(format!("/allowed_tools/{index}"), detail))
        }
        None => Ok(()),
    }
}

/// A leading `-` would make it an option of the agent.
fn is_session_id(id: &str) -> bool {
    (1..=MAX_WORD_BYTES).contains(&id.len()) && !id.starts_with('-') && !id.chars().any(char::is_control)
}

pub(super) fn invalid(pointer: impl Into<String>, detail: &str) -> Problem {
    Problem::new(ProblemCode::Unprocessable, detail).in_field(pointer)
}
