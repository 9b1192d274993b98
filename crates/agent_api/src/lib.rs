//! One vocabulary and one contract for every coding agent: typed, bounded, live events and an honest ending.
//!
//! An [`AgentRegistry`] holds the available [`backends`]. [`AgentRegistry::run`] starts one for a [`RunRequest`] and gives a
//! [`RunHandle`]: the [`Events`] as they happen, a [`Completion`] that tells how the run ended, and a [`RunControl`]
//! that speaks to the agent and stops it. An [`Event`] says what happened in its [`Body`]. What differs from agent to
//! agent is data, a [`Profile`], and what an agent can do is a list of [`capability`] ids. `docs/contract.md` states
//! the rules that all of them keep.
//!
//! # Stream a run
//!
//! This example runs the scripted agent of the crate `demo_agent`, so it works without an installed agent or an API key.
//! For Claude Code, register [`ClaudeCode`](backends::claude_code::ClaudeCode) and leave out `demo_main`.
//!
//! ```standalone_crate
//! use agent_api::{Body, AgentRegistry, Part, RunOptions, RunRequest};
//! use demo_agent::{Demo, SPEED_EXTENSION};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     demo_agent::demo_main(); // the demo agent is this program, started again
//!     agent_process::guard_main(); // before any thread: no agent outlives this process
//!     let workspace = tempfile::tempdir()?;
//!     let mut options = RunOptions::new();
//!     options.cwd = Some(workspace.path().to_owned());
//!     options.extensions.insert(SPEED_EXTENSION.to_owned(), "max".into());
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let registry = AgentRegistry::new().with(Demo::reexec())?;
//!         let mut run = registry.run("demo", RunRequest::new("Repair it").options(options)).await?;
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
//! Dropping the handle, or its events, stops the agent. [`RunHandle::wait`], [`RunHandle::collect`] and
//! [`RunHandle::detach`] run it without a consumer.
//!
//! # Answer what the agent asks
//!
//! An agent asks only if the caller can answer: [`PermissionHost::Caller`] and [`Input::Messages`]. Answers return at once,
//! [`RequestClosed`] is their receipt.
//!
//! ```standalone_crate
//! use agent_api::{Answer, Body, Close, Completed, Input, RunHandle, RunOptions, RunRequest, ToolKind};
//!
//! fn request(mut options: RunOptions) -> RunRequest {
//!     options.permission_host = Some(agent_api::PermissionHost::Caller);
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
//! #     demo_agent::demo_main();
//! #     agent_process::guard_main();
//! #     let workspace = tempfile::tempdir()?;
//! #     let mut options = RunOptions::new();
//! #     options.cwd = Some(workspace.path().to_owned());
//! #     options.extensions.insert(demo_agent::SPEED_EXTENSION.to_owned(), "max".into());
//! #     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! #     runtime.block_on(async {
//! #         let registry = agent_api::AgentRegistry::new().with(demo_agent::Demo::reexec())?;
//! #         assert!(attend(registry.run("demo", request(options)).await?).await?.is_success());
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
//! use agent_api::{
//!     AgentKind, AgentRegistry, Backend, BackendConfig, Body, Emitter, Error, InstalledAgent, ItemId, Launch, LaunchInput, Mapper,
//!     Piece, Profile, RawRef, RunRequest, TextBlock,
//! };
//! use agent_process::SpawnSpec;
//! use json_lines::Framed;
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
//!     fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
//!         let input = LaunchInput::Bytes(request.prompt.clone().into());
//!         Ok(Launch::new(SpawnSpec::new(&found.program), input, Box::new(ParrotMapper)))
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
//! // The defaults are those of a plain command: the exit code decides, no limits, no settings.
//! let profile = Profile::new(AgentKind::built_in("parrot"), "cat");
//! let registry = AgentRegistry::new().with(Parrot { profile, config: BackendConfig::default() })?;
//! let run = registry.run("parrot", RunRequest::new("hello")).await?;
//! assert_eq!(run.wait().await?.final_text.as_deref(), Some("hello"));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! The folder `examples/` has all three at greater length. There is one cargo feature per backend, all on by default:
//! `acp`, `claude_code`, `codex`, `gemini`, `qwen`, `amp`, `pi` and `custom`.
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
mod harness;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod registry;
mod request;

/// See [`agent_process::guard_main`]: the first line of `main`, so that no agent outlives your process.
pub use agent_process::guard_main;
// What public fields and signatures of this crate are made of.
pub use agent_client::{
    BaseEnvironment, CancelOutcome, Close, CostBasis, DetectError, Environment, Expansion, JsonSource,
    MicroUsd, PartialMessages, PermissionHost, PermissionMode, Persistence, ProgramFile, RunOptions,
    SessionChoice, SystemPrompt, Tokens, VendorEvents, Version, VersionMemory,
};
pub use agent_process::{ExitReport, Isolation, Limits, SpawnSpec, StdoutMode};
pub use backend::{
    Answer, Backend, BackendConfig, Command, ExitCode, ExitTrust, HeldUntilExit, InstalledAgent, InterruptBy,
    Launch, LaunchInput, LoginCheck, LoginFile, Mapper, Profile, RootRefusal, StderrClass, ToolNames,
    UntestedVersion,
};
pub use bytes::Bytes;
pub use detect::{Detected, DetectionReport, Detector};
pub use emitter::{Emitter, LateReply};
pub use error::{CommandError, Error};
pub use event::{
    AgentKind, Body, ChangeKind, CloseReason, CommandAnswered, ContextUse, Cost, CostSource, Delta,
    DeltaMode, Denial, DiscardReason, ErrorClass, ErrorInfo, Event, ExitInfo, FileChange, Finished,
    ItemDiscarded, ItemId, Json, Limit, MessageState, MessageUpdated, Notice, Origin, Outcome, Part,
    PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus, PlanUpdated, Position, Question,
    QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RawRef, RequestClosed, RequestId, Retry,
    RunUsage, SessionStarted, SessionUpdated, Severity, Status, StatusChanged, Task, TaskState, TextBlock,
    TextEdit, ThinkingBlock, ToolFinished, ToolInput, ToolKind, ToolProgressed, ToolStarted, ToolState,
    ToolStatus, TurnFinished, TurnStarted, Unknown, Usage, UsageScope, UserMessage,
};
pub use harness::{
    Completed, Completion, DetachedRun, Events, RunControl, RunHandle, new_message_id, new_session_id,
};
pub use json_lines::Framed;
pub use registry::AgentRegistry;
pub use request::{Attachment, Input, RunRequest};
