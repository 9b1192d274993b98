//! What is captured: a run of the CLI, and what happens before and during it.

use serde_json::{Value, json};
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::{Agent, CURRENT};
use test_support::script::Signal;

/// One fixture.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) agent: Agent,
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) versions: Vec<&'static str>,
    /// In the same workspace and home; not kept.
    pub(crate) before: Vec<Run>,
    pub(crate) run: Run,
    /// Files in the workspace, beside the usual ones.
    pub(crate) files: Vec<(&'static str, &'static str)>,
}

/// One process.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) arguments: Vec<String>,
    /// On top of the isolated environment; `None` removes.
    pub(crate) variables: Vec<(&'static str, Option<&'static str>)>,
    pub(crate) input: Input,
    pub(crate) steps: Vec<Step>,
}

/// The CLI's stdin.
#[derive(Clone)]
pub(crate) enum Input {
    /// A pipe that is written at once and closed.
    Text(String),
    /// `/dev/null`, which makes a difference in one place.
    Nothing,
    /// A pipe that belongs to the steps.
    Steps,
}

/// What the host does while the CLI runs.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends a line.
    Send(Value),
    /// Sends something that is not JSON.
    SendText(&'static str),
    /// Waits for a line that includes this.
    Await(Value),
    /// Sends a line made from the last one that was waited for, or from the one that was kept.
    Answer(String),
    /// Answers the request for permission that was waited for with its first option of this kind.
    Choose(&'static str),
    /// Waits until the model stands at this gate.
    AwaitGate(&'static str),
    OpenGate(&'static str),
    /// Waits for a file in the workspace.
    AwaitFile(&'static str),
    /// Creates a file in the workspace.
    Touch(&'static str),
    /// The line that was waited for is the one that is answered, whatever is waited for next.
    Keep,
    /// Waits until the CLI has ended.
    AwaitEnd,
    Signal(Signal),
    /// To the CLI's process group: some CLIs are two processes, and the first one keeps signals to itself.
    SignalGroup(Signal),
    /// Waits until the model was asked that often.
    AwaitRequests(usize),
    /// Closes stdin; the end of the steps does so, too.
    Close,
}

const STREAM: [&str; 3] = ["-p", "--output-format=stream-json", "--verbose"];

impl Run {
    /// One-way, the prompt by stdin, nothing asked.
    pub(crate) fn prompt(prompt: impl Into<String>) -> Self {
        let mut run = Self::bare(&STREAM, Input::Text(prompt.into()));
        run.arguments.push("--dangerously-skip-permissions".to_owned());
        run
    }

    pub(crate) fn bare(arguments: &[&str], input: Input) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self {
            arguments,
            variables: Vec::new(),
            input,
            steps: Vec::new(),
        }
    }

    pub(crate) fn flag(mut self, flag: impl Into<String>) -> Self {
        self.arguments.push(flag.into());
        self
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    pub(crate) fn step(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }
}

impl Scenario {
    /// Any run of any agent, of its newest version.
    pub(crate) fn of(agent: Agent, name: &'static str, what: &'static str, run: Run) -> Self {
        Self {
            agent,
            versions: agent.versions().iter().copied().take(1).collect(),
            ..Self::new(name, what, run)
        }
    }

    fn new(name: &'static str, what: &'static str, run: Run) -> Self {
        Self {
            agent: Agent::Claude,
            name,
            what,
            versions: vec![CURRENT],
            before: Vec::new(),
            run,
            files: Vec::new(),
        }
    }

    /// `SCENARIO:<scenario>` as prompt, all permissions given.
    pub(crate) fn plain(name: &'static str, what: &'static str, scenario: &str) -> Self {
        Self::new(name, what, Run::prompt(format!("SCENARIO:{scenario}")))
    }

    /// Any prompt.
    pub(crate) fn prompt(name: &'static str, what: &'static str, prompt: &str) -> Self {
        Self::new(name, what, Run::prompt(prompt))
    }

    /// The model says these messages.
    pub(crate) fn scripted(name: &'static str, what: &'static str, steps: &[Vec<Block>]) -> Self {
        Self::new(name, what, Run::prompt(scripted_prompt(steps)))
    }

    /// Any command line.
    pub(crate) fn command(name: &'static str, what: &'static str, arguments: &[&str], prompt: &str) -> Self {
        Self::new(name, what, Run::bare(arguments, Input::Text(prompt.to_owned())))
    }

    /// A conversation over stdin, all permissions given.
    pub(crate) fn dialogue(
        name: &'static str,
        what: &'static str,
        steps: impl IntoIterator<Item = Step>,
    ) -> Self {
        let mut arguments: Vec<&str> = STREAM.to_vec();
        arguments.extend(["--input-format=stream-json", "--dangerously-skip-permissions"]);
        let run = Run::bare(&arguments, Input::Steps);
        Self::new(name, what, run.step(steps))
    }

    /// A conversation over stdin with a host that is asked for permissions.
    pub(crate) fn hosted(
        name: &'static str,
        what: &'static str,
        steps: impl IntoIterator<Item = Step>,
    ) -> Self {
        Self::dialogue(name, what, steps)
            .asking()
            .flag("--permission-prompt-tool=stdio")
    }

    /// Permissions are not given.
    pub(crate) fn asking(mut self) -> Self {
        self.run
            .arguments
            .retain(|argument| argument != "--dangerously-skip-permissions");
        self
    }

    pub(crate) fn without_input(mut self) -> Self {
        self.run.input = Input::Nothing;
        self
    }

    pub(crate) fn flag(mut self, flag: impl Into<String>) -> Self {
        self.run = self.run.flag(flag);
        self
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.run = self.run.flags(flags);
        self
    }

    pub(crate) fn partial(self) -> Self {
        self.flag("--include-partial-messages")
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.run.variables.push((name, Some(value)));
        self
    }

    pub(crate) fn without_variable(mut self, name: &'static str) -> Self {
        self.run.variables.push((name, None));
        self
    }

    /// The default takes three minutes.
    pub(crate) fn with_two_retries(self) -> Self {
        self.variable("CLAUDE_CODE_MAX_RETRIES", "2")
    }

    pub(crate) fn file(mut self, path: &'static str, content: &'static str) -> Self {
        self.files.push((path, content));
        self
    }

    pub(crate) fn after(mut self, run: Run) -> Self {
        self.before.push(run);
        self
    }

    pub(crate) fn step(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.run = self.run.step(steps);
        self
    }

    pub(crate) fn also_in(mut self, versions: &[&'static str]) -> Self {
        self.versions.extend(versions);
        self
    }
}

/// A user's message.
pub(crate) fn user(text: &str) -> Step {
    Step::Send(json!({"type": "user", "message": {"role": "user", "content": text}}))
}

/// A user's message with an id.
pub(crate) fn user_with_id(text: &str, id: &str) -> Step {
    Step::Send(json!({"type": "user", "message": {"role": "user", "content": text}, "uuid": id}))
}

/// A control request.
pub(crate) fn control(id: &str, request: Value) -> Step {
    Step::Send(json!({"type": "control_request", "request_id": id, "request": request}))
}

/// Waits for the answer to it.
pub(crate) fn answered(id: &str) -> Step {
    Step::Await(json!({"type": "control_response", "response": {"request_id": id}}))
}

/// Waits for the end of a turn.
pub(crate) fn turn_ends() -> Step {
    Step::Await(json!({"type": "result"}))
}

/// Waits for a request of the CLI.
pub(crate) fn asked(subtype: &str) -> Step {
    Step::Await(json!({"type": "control_request", "request": {"subtype": subtype}}))
}

/// Answers the request that was waited for; `${/…}` is filled in from it.
pub(crate) fn answer(response: &str) -> Step {
    Step::Answer(format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"${{/request_id}}","response":{response}}}}}"#
    ))
}

/// A call of the Bash tool.
pub(crate) fn bash(command: &str) -> Block {
    Block::tool("Bash", json!({"command": command, "description": "A command"}))
}
