//! One vocabulary and one contract for every coding agent: typed, bounded, live events and an honest ending.
//!
//! A [`Gateway`] holds the [`backends`] there are. [`Gateway::run`] starts one for a [`RunRequest`] and gives a
//! [`RunHandle`]: the [`Events`] as they happen, a [`Completion`] that tells how the run ended, and a [`RunControl`]
//! that speaks to the agent and stops it. An [`Event`] says what happened in its [`Body`]. What differs from agent to
//! agent is data, a [`Profile`], and what an agent can do is a list of [`capability`] ids. `docs/contract.md` states
//! the rules that all of them keep.
//!
//! # Stream a run
//!
//! The demo agent is a child process like any other, so this works on a machine without an agent or a key. For the
//! real one register [`ClaudeCode`](backends::claude_code::ClaudeCode), and leave out [`demo_main`].
//!
//! ```standalone_crate
//! use agent_api::backends::demo::{DEMO_SPEED, Demo};
//! use agent_api::{Body, Gateway, Part, RunOptions, RunRequest};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     agent_api::demo_main(); // this program may have been started as the demo agent
//!     agent_process::guard_main(); // before any thread: no agent outlives this process
//!     let workspace = tempfile::tempdir()?;
//!     let mut options = RunOptions::new();
//!     options.cwd = Some(workspace.path().to_owned());
//!     options.extensions.insert(DEMO_SPEED.to_owned(), "max".into());
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let gateway = Gateway::new().with(Demo::reexec())?;
//!         let mut run = gateway.run("demo", RunRequest::new("Repair it").options(options)).await?;
//!         while let Some(event) = run.events.next().await {
//!             match &event.body {
//!                 Body::Delta(delta) if delta.part == Part::Text => print!("{}", delta.text),
//!                 Body::ToolStarted(tool) => println!("\n[{}]", tool.subject.as_deref().unwrap_or(&tool.name)),
//!                 _ => {}
//!             }
//!         }
//!         assert!(run.completion.await?.is_success()); // the process and all that it started are gone
//!         Ok(())
//!     })
//! }
//! ```
//!
//! Text arrives as [`Delta`]s and again as a whole [`TextBlock`] under the same [`ItemId`]: show the one or the other.
//! Dropping the handle detaches; only [`RunControl::cancel`] stops a run.
//!
//! # Answer what the agent asks
//!
//! An agent asks only where somebody can answer: [`RunOptions::asks`] and [`Input::Messages`]. Answers return at once,
//! [`RequestClosed`] is their receipt.
//!
//! ```standalone_crate
//! use agent_api::{Answer, Body, Close, Completed, Input, RunHandle, RunOptions, RunRequest, ToolKind};
//!
//! fn request(mut options: RunOptions) -> RunRequest {
//!     options.asks = Some(true);
//!     RunRequest::new("Repair it").input(Input::Messages(Close::WhenIdle)).options(options)
//! }
//!
//! async fn attend(mut run: RunHandle) -> Result<Completed, Box<dyn std::error::Error>> {
//!     while let Some(event) = run.events.next().await {
//!         let (request, answer) = match &event.body {
//!             Body::PermissionRequested(asked) if asked.kind == ToolKind::Read => (&asked.request, Answer::Allow),
//!             Body::PermissionRequested(asked) => {
//!                 (&asked.request, Answer::Deny { reason: "only reading is allowed".to_owned() })
//!             }
//!             Body::QuestionAsked(asked) => {
//!                 // A person's choice; the first option stands for it.
//!                 let chosen = asked.questions.iter().filter_map(|question| {
//!                     Some((question.text.clone(), question.options.first()?.label.clone()))
//!                 });
//!                 (&asked.request, Answer::Answers(chosen.collect()))
//!             }
//!             _ => continue,
//!         };
//!         run.control.answer(request, answer)?;
//!     }
//!     Ok(run.completion.await?)
//! }
//! #
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! #     agent_api::demo_main();
//! #     agent_process::guard_main();
//! #     let workspace = tempfile::tempdir()?;
//! #     let mut options = RunOptions::new();
//! #     options.cwd = Some(workspace.path().to_owned());
//! #     options.extensions.insert(agent_api::backends::demo::DEMO_SPEED.to_owned(), "max".into());
//! #     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! #     runtime.block_on(async {
//! #         let gateway = agent_api::Gateway::new().with(agent_api::backends::demo::Demo::reexec())?;
//! #         assert!(attend(gateway.run("demo", request(options)).await?).await?.is_success());
//! #         Ok(())
//! #     })
//! # }
//! ```
//!
//! # Add a backend
//!
//! A [`Backend`] is a [`Profile`], a [`Launch`] and a [`Mapper`], which turns lines into events and does nothing else.
//! Spawning, framing, deadlines, bounds, stopping and the end are the same for all. This one's agent is `cat`.
//!
//! ```
//! use agent_api::backends::custom::Custom;
//! use agent_api::{
//!     AgentKind, Backend, BackendConfig, Body, Emitter, Error, Found, Gateway, ItemId, Launch, LaunchInput, Mapper,
//!     Piece, Profile, RawRef, RunRequest, TextBlock,
//! };
//! use agent_process::{Framed, SpawnSpec};
//!
//! struct Parrot {
//!     profile: Profile,
//!     config: BackendConfig,
//! }
//!
//! impl Backend for Parrot {
//!     fn profile(&self) -> &Profile {
//!         &self.profile
//!     }
//!
//!     fn config(&self) -> &BackendConfig {
//!         &self.config
//!     }
//!
//!     fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error> {
//!         Ok(Launch {
//!             spec: SpawnSpec::new(&found.program),
//!             input: LaunchInput::Bytes(request.prompt.clone().into()),
//!             mapper: Box::new(ParrotMapper),
//!             keep_alive: None,
//!             notes: Vec::new(),
//!         })
//!     }
//! }
//!
//! struct ParrotMapper;
//!
//! impl Mapper for ParrotMapper {
//!     fn map_line(&mut self, line: Framed, events: &mut Emitter) {
//!         if let Framed::Line(line) = line {
//!             let (number, offset, length) = (line.number, line.offset, line.bytes.len() as u64);
//!             events.at(Some(RawRef { line: number, offset, length }));
//!             events.emit(Body::TextBlock(TextBlock {
//!                 item: ItemId::new(&format!("line-{number}")),
//!                 text: String::from_utf8_lossy(&line.bytes).into_owned(),
//!                 piece: Piece::WHOLE,
//!                 is_aborted: false,
//!             }));
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if cfg!(windows) {
//! #     return Ok(());
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // The facts of a plain command, but for its name: the exit code decides, no limits, no settings.
//! let plain = Custom::new("cat", [""; 0]).profile().clone();
//! let profile = Profile { kind: AgentKind::built_in("parrot"), program: "cat", ..plain };
//! let gateway = Gateway::new().with(Parrot { profile, config: BackendConfig::default() })?;
//! let run = gateway.run("parrot", RunRequest::new("hello")).await?;
//! drop(run.events); // nobody wants to see them
//! assert_eq!(run.completion.await?.final_text.as_deref(), Some("hello"));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! The folder `examples/` has all three at greater length. One cargo feature per backend, all on by default:
//! `claude_code`, `custom` and `demo` run, `codex`, `gemini` and `qwen` map what those agents write and start nothing.
//!
//! This crate prints nothing, changes no environment and reads no home directory.
#![warn(missing_docs)]

mod backend;
pub mod backends;
pub mod bounds;
pub mod capability;
mod detect;
mod emitter;
mod error;
mod event;
mod gateway;
mod harness;
mod request;

/// See [`agent_process::guard_main`]: the first line of `main`, so that no agent outlives your process.
pub use agent_process::guard_main;
// What public fields and signatures of this crate are made of.
pub use agent_process::{ExitReport, Framed, Isolation, Limits, SpawnSpec, StdoutMode};
pub use backend::{
    Answer, Backend, BackendConfig, Command, Encoded, ExitTrust, Found, InterruptBy, KeepAlive, Launch,
    LaunchInput, Mapper, Profile, StderrClass,
};
#[cfg(feature = "demo")]
pub use backends::demo::demo_main;
pub use bytes::Bytes;
pub use claude_code::{Capabilities, Dialect, Expansion};
pub use claude_code::{CostBasis, MicroUsd, Version};
pub use detect::{Detection, Detector, ProgramFile, Report, ReportEntry, VersionMemory};
pub use emitter::Emitter;
pub use error::{CommandError, Error};
pub use event::{
    AgentKind, Body, ChangeKind, CloseReason, CommandAnswered, ContextUse, Cost, CostSource, Delta,
    DeltaMode, Denial, DiscardReason, ErrorClass, ErrorInfo, Event, ExitInfo, FileChange, Finished,
    ItemDiscarded, ItemId, Json, Limit, MessageState, MessageUpdated, Notice, Origin, Outcome, Part,
    PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus, PlanUpdated, Position, Question,
    QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RawRef, RequestClosed, RequestId, Retry,
    RunUsage, SessionStarted, SessionUpdated, Severity, Status, StatusChanged, Task, TaskState, TextBlock,
    TextEdit, ThinkingBlock, Tokens, ToolFinished, ToolInput, ToolKind, ToolProgressed, ToolStarted,
    ToolState, ToolStatus, TurnFinished, TurnStarted, Unknown, Usage, UsageScope, UserMessage,
};
pub use gateway::Gateway;
pub use harness::{CancelOutcome, Completed, Completion, Events, RunControl, RunHandle, new_message_id};
pub use request::{
    BaseEnvironment, Close, Environment, Input, PermissionMode, RunOptions, RunRequest, SessionChoice,
};
