//! The client: which CLI, with which defaults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_process::SpawnError;

use super::events::Events;
use super::handle::Handle;
use super::known::Known;
use super::launch::{Launched, launch};
use crate::argv::{self, AnyRequest, Argv};
use crate::capabilities::Capabilities;
use crate::error::Error;
use crate::probe::{Probe, ProbeError, ask};
use crate::request::{Environment, Options, PrintRequest};

/// How long the CLI may take to answer a control request.
const CONTROL_DEADLINE: Duration = Duration::from_secs(10);

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
    defaults: Options,
    log_directory: Option<PathBuf>,
    control_deadline: Duration,
    told: Option<Capabilities>,
    asked: Known,
}

impl Client {
    /// A client for the program `claude`, unless told otherwise.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            binary: "claude".into(),
            defaults: Options::default(),
            capabilities: None,
            log_directory: None,
            control_deadline: CONTROL_DEADLINE,
        }
    }

    /// Asks the CLI for its version, again at every call.
    ///
    /// # Errors
    /// When there is no such program, or it does not say its version.
    pub async fn probe(&self) -> Result<Probe, ProbeError> {
        self.probe_for(&self.inner.defaults).await
    }

    /// As the process for these options would be started.
    async fn probe_for(&self, options: &Options) -> Result<Probe, ProbeError> {
        ask(&self.inner.binary, &options.environment, options.cwd.as_deref()).await
    }

    /// What the CLI can do: as the builder was told, else asked once and remembered. A program that does not say its
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

    async fn capabilities_for(&self, options: &Options) -> Result<Capabilities, ProbeError> {
        if let Some(told) = self.inner.told {
            return Ok(told);
        }
        let known = self.inner.asked.entry(&self.inner.binary, options);
        let capabilities = known.get_or_try_init(|| async {
            match self.probe_for(options).await {
                Ok(probe) => Ok(probe.capabilities),
                Err(ProbeError::NoVersion { .. }) => Ok(Capabilities::current()),
                Err(error) => Err(error),
            }
        });
        capabilities.await.copied()
    }

    /// Runs one prompt and gives its events as they come, while the process runs.
    ///
    /// Nothing is lost, and nothing piles up in this process: what the consumer does not read stays in the pipe. The
    /// real CLI does not wait for it, it goes on and keeps its output in its own memory. Dropping the events, or the
    /// whole handle, stops the process and everything it started; dropping the completion does not.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use claude_code::{Client, Kind, Options, PrintRequest};
    ///
    /// let client = Client::builder().cwd("/path/to/project").build();
    /// let request = PrintRequest::new("Fix the failing test.").options(Options::new().max_turns(20));
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
    /// When the request cannot be carried out, or the process cannot be started.
    pub async fn print_stream_json(&self, request: PrintRequest) -> Result<Handle, Error> {
        self.start_print(request).await.map(|(handle, _)| handle)
    }

    /// [`Self::print_stream_json`], and what the CLI can do.
    pub(crate) async fn start_print(&self, request: PrintRequest) -> Result<(Handle, Capabilities), Error> {
        let PrintRequest { prompt, options } = request;
        let request = PrintRequest {
            prompt,
            options: options.or(&self.inner.defaults),
        };
        let (argv, capabilities) = self.command_line(&request).await?;
        let launched = launch(&self.inner.binary, argv, &request.options).await?;
        let Launched {
            reader,
            control,
            completion,
            files,
            notes,
            ..
        } = launched;
        let handle = Handle {
            events: Events::direct(reader, files),
            completion,
            control,
            notes,
        };
        Ok((handle, capabilities))
    }

    /// The command line for a request, and what it was built for.
    pub(crate) async fn command_line<'a>(
        &self,
        request: impl Into<AnyRequest<'a>>,
    ) -> Result<(Argv, Capabilities), Error> {
        let request = request.into();
        if self.inner.told.is_none() {
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
        Ok((argv::build(request, &capabilities)?, capabilities))
    }

    /// The program.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.inner.binary
    }

    pub(crate) fn defaults(&self) -> &Options {
        &self.inner.defaults
    }

    pub(crate) fn log_directory(&self) -> Option<&Path> {
        self.inner.log_directory.as_deref()
    }

    pub(crate) fn control_deadline(&self) -> Duration {
        self.inner.control_deadline
    }
}

/// Builds a [`Client`].
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    binary: PathBuf,
    defaults: Options,
    capabilities: Option<Capabilities>,
    log_directory: Option<PathBuf>,
    control_deadline: Duration,
}

impl ClientBuilder {
    /// The program: a path, or a name that is looked up in the child's `PATH`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// What requests leave open.
    #[must_use]
    pub fn defaults(mut self, defaults: Options) -> Self {
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

    /// Where [`Client::run`] puts its raw logs when a request names no file; the system's folder for temporary files
    /// if nobody says otherwise.
    #[must_use]
    pub fn log_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.log_directory = Some(directory.into());
        self
    }

    /// How long the CLI may take to answer a control request of a session, and to read what was sent before its input
    /// is closed; 10 seconds if nobody says otherwise.
    #[must_use]
    pub fn control_deadline(mut self, deadline: Duration) -> Self {
        self.control_deadline = deadline;
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
                told: self.capabilities,
                asked: Known::default(),
            }),
        }
    }
}
