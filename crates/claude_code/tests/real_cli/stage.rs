//! A real CLI, isolated, with a scripted model to talk to.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use claude_code::event::{Block, Content, StreamBody, System};
use claude_code::{
    Client, Environment, Event, Events, Handle, Kind, PermissionMode, PrintRequest, RunOptions, StdoutMode,
};
use libtest_mimic::{Failed, Trial};
use test_support::fake_model::{Block as ModelBlock, FakeModel, scripted_prompt};
use test_support::real_cli::{CURRENT, RealClaude, Workspace};

/// Nothing here takes so long unless it hangs.
const LIMIT: Duration = Duration::from_secs(90);

pub(crate) const TRANSPORTS: [(&str, StdoutMode); 3] = [
    ("pipe", StdoutMode::Pipe),
    ("spool", StdoutMode::Spool),
    (
        "pty",
        StdoutMode::Pty {
            columns: 80,
            rows: 24,
        },
    ),
];

/// One CLI version, one model, one workspace.
pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) workspace: Workspace,
    pub(crate) client: Client,
    transport: StdoutMode,
    logs: AtomicU32,
}

impl Stage {
    pub(crate) async fn new(version: &str, transport: StdoutMode) -> Self {
        let cli = RealClaude::install(version).unwrap();
        let model = FakeModel::start().await.unwrap();
        let workspace = Workspace::create().unwrap();
        let environment = workspace.environment(model.base_url());
        let environment = environment
            .iter()
            .fold(Environment::clear(), |cleared, (name, value)| {
                cleared.set(name, value)
            });
        let client = Client::builder()
            .binary(cli.path())
            .environment(environment)
            .cwd(workspace.path())
            .log_directory(workspace.root())
            .build();
        Self {
            model,
            workspace,
            client,
            transport,
            logs: AtomicU32::new(0),
        }
    }

    /// Options that let every tool run.
    pub(crate) fn options(&self) -> RunOptions {
        self.options_with(PermissionMode::Bypass)
    }

    /// Options with this stage's transport and a log of their own.
    pub(crate) fn options_with(&self, mode: PermissionMode) -> RunOptions {
        let log = format!("run-{}.ndjson", self.logs.fetch_add(1, Ordering::Relaxed));
        RunOptions::new()
            .permission_mode(mode)
            .transport(self.transport)
            .raw_log(self.workspace.root().join(log))
    }

    pub(crate) async fn start(&self, scenario: &str, options: RunOptions) -> Handle {
        let request = PrintRequest::new(format!("SCENARIO:{scenario}")).options(options);
        self.client.print_stream_json(request).await.unwrap()
    }

    /// Runs a scenario to its end: its events, and the exit code.
    pub(crate) async fn play(&self, scenario: &str, options: RunOptions) -> (Vec<Event>, i32) {
        let Handle {
            mut events,
            completion,
            ..
        } = self.start(scenario, options).await;
        let all = rest(&mut events).await;
        let report = completion.await.unwrap();
        let agent_process::Exit::Code(code) = report.exit else {
            unreachable!(
                "{}: {}",
                report.exit,
                String::from_utf8_lossy(&report.stderr_tail)
            )
        };
        (all, code)
    }
}

/// A command whose shell, and a child that left it, write their numbers and then sleep.
const LONG_COMMAND: &str =
    "echo $$ > shell.pid; (setsid sh -c 'echo $$ > daemon.pid; exec sleep 600' &) ; exec sleep 600";

/// Makes the model run [`LONG_COMMAND`].
pub(crate) fn long_tool_prompt() -> String {
    let input = serde_json::json!({"command": LONG_COMMAND, "description": "Sleep"});
    scripted_prompt(&[vec![ModelBlock::tool("Bash", input)]])
}

/// Whether the event is a call of Bash.
pub(crate) fn uses_bash(event: &Event) -> bool {
    gist(event).is_some_and(|gist| gist.contains("call Bash"))
}

impl Stage {
    /// Waits until [`long_tool_prompt`]'s command sleeps.
    pub(crate) async fn tool_started(&self) {
        while self.tool_pids().len() < 2 {
            tokio::task::yield_now().await;
        }
    }

    /// The numbers of the processes that [`long_tool_prompt`]'s command started.
    pub(crate) fn tool_pids(&self) -> Vec<u32> {
        let read = |name: &str| {
            std::fs::read_to_string(self.workspace.path().join(name))
                .ok()?
                .trim()
                .parse()
                .ok()
        };
        ["shell.pid", "daemon.pid"].into_iter().filter_map(read).collect()
    }
}

/// A trial on a runtime of its own, within [`LIMIT`], with the current CLI on a pipe.
pub(crate) fn trial<F, T>(name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce(Stage) -> T + Send + 'static,
    T: Future<Output = ()>,
{
    trial_of(CURRENT, StdoutMode::Pipe, name, test)
}

/// The same over every transport.
pub(crate) fn over_each<F, T>(name: &str, test: F) -> Vec<Trial>
where
    F: Fn(Stage) -> T + Copy + Send + 'static,
    T: Future<Output = ()>,
{
    TRANSPORTS
        .map(|(transport, mode)| trial_of(CURRENT, mode, format!("{name}_over_{transport}"), test))
        .into()
}

/// A trial with another version.
pub(crate) fn trial_of<F, T>(
    version: &'static str,
    transport: StdoutMode,
    name: impl Into<String>,
    test: F,
) -> Trial
where
    F: FnOnce(Stage) -> T + Send + 'static,
    T: Future<Output = ()>,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let acted = async { test(Stage::new(version, transport).await).await };
        runtime
            .block_on(async { tokio::time::timeout(LIMIT, acted).await })
            .map_err(|_| Failed::from("the test hangs"))
    })
}

/// All events that are left; every line must be one.
pub(crate) async fn rest(events: &mut Events) -> Vec<Event> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event.unwrap());
    }
    all
}

/// Reads events until one is what is looked for.
pub(crate) async fn until(events: &mut Events, mut found: impl FnMut(&Event) -> bool) -> Event {
    loop {
        let event = events.next().await.expect("the stream ended too early").unwrap();
        if found(&event) {
            return event;
        }
    }
}

/// What an event says, without ids, times and counts: equal for equal runs.
pub(crate) fn gist(event: &Event) -> Option<String> {
    Some(match event.kind() {
        Kind::Assistant(said) => format!("assistant {}", content_gist(&said.message.as_ref()?.content)),
        Kind::User(said) => format!("user {}", content_gist(&said.message.as_ref()?.content)),
        Kind::Result(result) => {
            format!(
                "result {:?} {:?} {:?}",
                result.subtype,
                result.is_error,
                result.result.as_deref()
            )
        }
        // How often these come depends on the clock.
        Kind::System(System::ThinkingTokens(_) | System::Status(_)) | Kind::ToolProgress(_) => return None,
        Kind::System(_) => format!("system {}", event.field("subtype")?.as_str()),
        Kind::StreamEvent(piece) => format!("stream_event {}", stream_gist(&piece.body)),
        _ => event.type_name()?.into_owned(),
    })
}

fn content_gist(content: &Content) -> String {
    let blocks = content.blocks().iter().map(block_gist);
    blocks.chain(plain(content)).collect::<Vec<_>>().join(" + ")
}

fn plain(content: &Content) -> Option<String> {
    match content {
        Content::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The start of a text: enough to tell it from others, and before the ids that some tools end with.
fn cut(mut text: String) -> String {
    let end = text.char_indices().nth(100).map_or(text.len(), |(end, _)| end);
    text.truncate(end);
    text
}

/// What a piece of a message adds; ids and counts differ from run to run.
fn stream_gist(body: &StreamBody) -> String {
    match body {
        StreamBody::ContentBlockDelta { index, delta } => cut(format!("{index} {delta:?}")),
        other => format!("{other:?}")
            .split(['(', ' '])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

fn block_gist(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("text {text}"),
        Block::Thinking(thinking) => format!("thinking {}", thinking.thinking),
        Block::ToolUse(call) => cut(format!("call {} {}", call.name, call.input.as_str())),
        Block::ToolResult(result) => cut(format!(
            "result error={} {}",
            result.is_error,
            content_gist(&result.content)
        )),
        other => format!("{other:?}")
            .split(['(', ' '])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

pub(crate) fn gists(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(gist).collect()
}

/// The last result among events.
pub(crate) fn last_result(events: &[Event]) -> &claude_code::event::TurnResult {
    let results = events.iter().rev().find_map(|event| match event.kind() {
        Kind::Result(result) => Some(result),
        _ => None,
    });
    results.expect("there is no result")
}

pub(crate) fn session_id(events: &[Event]) -> String {
    events
        .iter()
        .find_map(Event::session_id)
        .expect("no event names its session")
        .into_owned()
}
