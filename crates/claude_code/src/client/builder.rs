//! `Client`: a CLI, the defaults of its requests, and the three ways to run it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use agent_client::{
    Close, Environment, ProgramDetector, Run, RunOptions, RunSetup, TimeLimits, WithoutControls,
};
use agent_process::SpawnError;

use super::handle::{Completion, Handle};
use super::prepare::{Prepared, prepared};
use super::protocol::WireProtocol;
use super::sender::{Session, SessionSender};
use crate::argv::{self, AnyRequest, Note};
use crate::capabilities::Capabilities;
use crate::error::Error;
use crate::host::Host;
use crate::probe::{self, Probe, ProbeError};
use crate::request::{PrintRequest, Replay, SessionRequest};

/// How long the CLI may take to answer a control request.
const CONTROL_DEADLINE: Duration = Duration::from_secs(10);
/// How long the CLI may take to read a message or an answer. It reads nothing before it has started.
const SEND_DEADLINE: Duration = Duration::from_secs(60);
/// How many bytes of events may wait for the consumer; then no more is read from the CLI.
const MAX_WAITING_BYTES: u32 = 8 * 1024 * 1024;
/// How long background tasks may be silent after the last result.
const BACKGROUND_GRACE: Duration = Duration::from_secs(30);

/// A CLI and how to run it. Cheap to clone.
///
/// Calls need a tokio runtime with I/O and time. Call [`agent_process::guard_main`] first in `main`, so that no
/// agent outlives your process.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    binary: PathBuf,
    defaults: RunOptions,
    log_directory: Option<PathBuf>,
    control_deadline: Duration,
    send_deadline: Duration,
    capabilities: Option<Capabilities>,
    detector: ProgramDetector,
}

impl Client {
    /// A client, by default for the program `claude`.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            binary: "claude".into(),
            defaults: RunOptions::default(),
            capabilities: None,
            log_directory: None,
            control_deadline: CONTROL_DEADLINE,
            send_deadline: SEND_DEADLINE,
        }
    }

    /// The CLI's program and version. It is asked once, and again after its file has changed.
    ///
    /// # Errors
    /// When there is no such program, or it does not say its version.
    pub async fn probe(&self) -> Result<Probe, ProbeError> {
        self.probe_for(&self.inner.defaults).await
    }

    /// As the process for these options would be started.
    async fn probe_for(&self, options: &RunOptions) -> Result<Probe, ProbeError> {
        let Inner { detector, binary, .. } = &*self.inner;
        probe::find(detector, binary, &options.environment, options.cwd.as_deref()).await
    }

    /// What the CLI can do: as set in the builder, else asked once and cached. A program that does not print its
    /// version is taken for the current one.
    ///
    /// This is about the program that the client's own environment and working directory lead to. A request that
    /// leads to another one, by its `PATH` for example, has that one asked.
    ///
    /// # Errors
    /// When there is no such program, or it does not answer.
    pub async fn capabilities(&self) -> Result<Capabilities, ProbeError> {
        self.capabilities_for(&self.inner.defaults).await
    }

    async fn capabilities_for(&self, options: &RunOptions) -> Result<Capabilities, ProbeError> {
        if let Some(capabilities) = self.inner.capabilities {
            return Ok(capabilities);
        }
        match self.probe_for(options).await {
            Ok(probe) => Ok(probe.capabilities),
            Err(ProbeError::NoVersion { .. }) => Ok(Capabilities::current()),
            Err(error) => Err(error),
        }
    }

    /// Runs one prompt and returns its events as they come, while the process runs.
    ///
    /// Nothing is lost: while the consumer does not read, at most 8 MiB of events wait and the rest stays in the pipe.
    /// Dropping the events, or the whole handle, stops the process and everything it started; dropping the completion
    /// does not.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use claude_code::{Client, Kind, PrintRequest, RunOptions};
    ///
    /// let client = Client::builder().cwd("/path/to/project").build();
    /// let request = PrintRequest::new("Fix the failing test.").options(RunOptions::new().max_turns(20));
    /// let mut handle = client.print_stream_json(request).await?;
    /// while let Some(item) = handle.events.next().await {
    ///     match item {
    ///         Ok(event) => match event.kind() {
    ///             Kind::Assistant(said) => println!("{:?}", said.message.as_ref().map(|message| &message.content)),
    ///             Kind::Result(result) => println!("succeeded: {}", result.is_success()),
    ///             _ => {}
    ///         },
    ///         Err(error) => eprintln!("{error}"),
    ///     }
    /// }
    /// let status = handle.completion.await?;
    /// println!("{}", status.exit);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the request cannot be carried out, or the process cannot be started.
    pub async fn print_stream_json(&self, request: PrintRequest) -> Result<Handle, Error> {
        let request = PrintRequest {
            options: request.options.or(&self.inner.defaults),
            ..request
        };
        let started = self.start_prompt(&request, |_| None).await?;
        Ok(Handle {
            events: started.run.events,
            completion: Completion {
                run: started.run.completion,
                timeout: request.options.timeout,
            },
            control: started.run.link.process().clone(),
            notes: started.notes,
        })
    }

    /// Starts a conversation. Nothing happens until the first message; the process lives until its input is closed.
    /// Permission requests, hooks and tools of your own are answered by a [`Host`], or by hand from the events
    /// ([`SessionSender::answer`]).
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use claude_code::host::Host;
    /// use claude_code::input::PermissionAnswer;
    /// use claude_code::{Client, Kind, SessionRequest};
    ///
    /// let host = Host::new().on_permission(|asked| async move {
    ///     match asked.tool_name.as_str() {
    ///         "Bash" => PermissionAnswer::deny("use the Makefile instead"),
    ///         _ => asked.allow(),
    ///     }
    /// });
    /// let mut session = Client::builder().build().session(SessionRequest::new().host(host)).await?;
    /// session.sender.send("Remove the build folder.").await?;
    /// while let Some(item) = session.events.next().await {
    ///     if let Kind::Result(_) = item?.kind() {
    ///         session.sender.close().await;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the request cannot be carried out, or the process cannot be started.
    pub async fn session(&self, request: SessionRequest) -> Result<Session, Error> {
        let request = SessionRequest {
            options: request.host.options(request.options.or(&self.inner.defaults)),
            ..request
        };
        let protocol = WireProtocol::for_session(request.host.clone());
        let started = self.start(&request, protocol, Close::ByCaller, |_| None).await?;
        let sender = self.sender(&started, &request.options);
        sender.initialize(&request.host).await?;
        Ok(Session {
            events: started.run.events,
            completion: Completion {
                run: started.run.completion,
                timeout: request.options.timeout,
            },
            control: started.run.link.process().clone(),
            sender,
            notes: started.notes,
        })
    }

    /// Starts a prompt whose options are complete. Callbacks need a stream in both directions: with a host, the prompt
    /// is the first and only message of a conversation.
    pub(crate) async fn start_prompt(
        &self,
        request: &PrintRequest,
        exit_grace: impl FnOnce(&Capabilities) -> Option<Duration>,
    ) -> Result<Started, Error> {
        let protocol = WireProtocol::for_prompt(request.host.clone());
        if request.host.is_empty() {
            return self.start(request, protocol, Close::WhenIdle, exit_grace).await;
        }
        argv::build(request, &Capabilities::current())?;
        let conversation = SessionRequest {
            replay: Replay::Off,
            host: Host::new(),
            options: request.host.options(request.options.clone()),
        };
        let started = self
            .start(&conversation, protocol, Close::WhenIdle, exit_grace)
            .await?;
        let sender = self.sender(&started, &request.options);
        sender.initialize(&request.host).await?;
        sender.send(request.prompt.as_str()).await?;
        Ok(started)
    }

    fn sender(&self, started: &Started, options: &RunOptions) -> SessionSender {
        SessionSender {
            link: started.run.link.clone(),
            next_request: Arc::new(AtomicU64::new(0)),
            capabilities: started.capabilities,
            expansion: options.expansion.unwrap_or_default(),
            control_deadline: self.inner.control_deadline,
            send_deadline: self.inner.send_deadline,
        }
    }

    /// Starts the CLI for a request whose options are complete. `exit_grace` gets the capabilities of the CLI.
    async fn start<'a>(
        &self,
        request: impl Into<AnyRequest<'a>>,
        protocol: WireProtocol,
        close: Close,
        exit_grace: impl FnOnce(&Capabilities) -> Option<Duration>,
    ) -> Result<Started, Error> {
        let request = request.into();
        if self.inner.capabilities.is_none() {
            // What no version takes is refused before anything is started, the question for the version included.
            argv::build(request, &Capabilities::current())?;
        }
        let capabilities = self
            .capabilities_for(request.options())
            .await
            .map_err(|error| match error {
                // The process itself would fail in the same way.
                ProbeError::Spawn {
                    source: source @ SpawnError::BadWorkingDirectory { .. },
                } => Error::Spawn(source),
                other => Error::Probe(other),
            })?;
        let argv = argv::build(request, &capabilities)?;
        let Prepared { spec, files, notes } = prepared(&self.inner.binary, argv, request.options())?;
        let setup = RunSetup {
            spec,
            first_input: Vec::new(),
            close,
            without_controls: match close {
                Close::WhenIdle => WithoutControls::CloseWhenIdle,
                Close::ByCaller => WithoutControls::CloseInput,
            },
            close_timeout: Some(self.inner.control_deadline),
            limits: time_limits(request.options(), exit_grace(&capabilities)),
            capacity: MAX_WAITING_BYTES,
            keep_alive: Some(Box::new(files)),
        };
        Ok(Started {
            run: agent_client::start(protocol, setup).await?,
            capabilities,
            notes,
        })
    }

    /// The program.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.inner.binary
    }

    pub(crate) fn defaults(&self) -> &RunOptions {
        &self.inner.defaults
    }

    pub(crate) fn log_directory(&self) -> Option<&Path> {
        self.inner.log_directory.as_deref()
    }
}

/// A running CLI.
pub(crate) struct Started {
    pub(crate) run: Run<WireProtocol>,
    pub(crate) capabilities: Capabilities,
    pub(crate) notes: Vec<Note>,
}

/// The limits of a run. A stream of events has no limit for its exit unless the caller sets one: its consumer decides
/// when to stop.
fn time_limits(options: &RunOptions, exit_grace: Option<Duration>) -> TimeLimits {
    let limit = |limit: Option<Duration>| limit.filter(|limit| !limit.is_zero());
    TimeLimits {
        timeout: options.timeout,
        inactivity: limit(options.inactivity_limit),
        tool_inactivity: limit(options.tool_inactivity_limit.or(options.inactivity_limit)),
        background_grace: Some(options.background_grace.unwrap_or(BACKGROUND_GRACE)),
        exit_grace: options.exit_grace.or(exit_grace),
    }
}

/// Builds a [`Client`].
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    binary: PathBuf,
    defaults: RunOptions,
    capabilities: Option<Capabilities>,
    log_directory: Option<PathBuf>,
    control_deadline: Duration,
    send_deadline: Duration,
}

impl ClientBuilder {
    /// The program: a path, or a name that is looked up in the child's `PATH`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// Options for everything that a request leaves unset.
    #[must_use]
    pub fn defaults(mut self, defaults: RunOptions) -> Self {
        self.defaults = defaults;
        self
    }

    /// The child's environment.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.defaults.environment = environment;
        self
    }

    /// Where the agent works.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.defaults.cwd = Some(cwd.into());
        self
    }

    /// From the start to the exit of the process.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.timeout = Some(timeout);
        self
    }

    /// What the CLI can do, so that it need not be asked for its version.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Where [`Client::run`] writes raw logs if a request names no file. No log by default.
    #[must_use]
    pub fn log_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.log_directory = Some(directory.into());
        self
    }

    /// How long the CLI may take to answer a control request of a session, and to read what was sent before its input
    /// is closed; 10 seconds by default.
    #[must_use]
    pub fn control_deadline(mut self, deadline: Duration) -> Self {
        self.control_deadline = deadline;
        self
    }

    /// How long the CLI may take to read a message or an answer; 60 seconds by default.
    #[must_use]
    pub fn send_deadline(mut self, deadline: Duration) -> Self {
        self.send_deadline = deadline;
        self
    }

    /// The client. Nothing is started yet.
    #[must_use]
    pub fn build(self) -> Client {
        Client {
            inner: Arc::new(Inner {
                binary: self.binary,
                defaults: self.defaults,
                log_directory: self.log_directory,
                control_deadline: self.control_deadline,
                send_deadline: self.send_deadline,
                capabilities: self.capabilities,
                detector: ProgramDetector::new(),
            }),
        }
    }
}
