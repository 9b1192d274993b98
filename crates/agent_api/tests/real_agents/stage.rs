//! A real agent behind the registry, isolated, with a scripted model to talk to.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agent_api::{
    AgentRegistry, BackendConfig, Body, Close, Completed, Environment, Event, Events, Input, PermissionMode,
    ProgramFile, RunHandle, RunOptions, RunRequest, Version, VersionMemory,
};
use libtest_mimic::{Failed, Trial};
use test_support::fake_model::FakeModel;
use test_support::real_cli::{RealCli, Workspace};

use crate::doors::Door;

/// No run takes so long unless it hangs; the slowest agent needs 8 s of processor time to start.
const LIMIT: Duration = Duration::from_secs(150);

/// One agent, one model, one workspace.
pub(crate) struct Stage {
    pub(crate) door: Door,
    pub(crate) model: FakeModel,
    pub(crate) workspace: Workspace,
    pub(crate) cli: RealCli,
    pub(crate) registry: AgentRegistry,
}

impl Stage {
    async fn new(door: Door) -> Self {
        let cli = RealCli::install(door.agent, door.agent.current_version()).unwrap();
        let model = FakeModel::start().await.unwrap();
        let workspace = Workspace::create().unwrap();
        door.agent.write_settings(&workspace, model.base_url()).unwrap();
        let mut registry = registry(door, &workspace, &model, cli.path().to_path_buf());
        // Some take seconds to print their version.
        registry.remember_versions(Arc::new(PinnedVersion(door.agent.current_version())));
        Self {
            door,
            model,
            workspace,
            cli,
            registry,
        }
    }

    /// The same agent, started by another program.
    pub(crate) fn with_program(&self, program: PathBuf) -> AgentRegistry {
        registry(self.door, &self.workspace, &self.model, program)
    }

    /// Options that let every tool run.
    pub(crate) fn options(&self) -> RunOptions {
        let mut options = RunOptions::new();
        options.permission_mode = Some(PermissionMode::Bypass);
        options.model = self.door.model.map(str::to_owned);
        options
    }

    /// A request of the kind that this way to start the agent takes.
    pub(crate) fn request(&self, prompt: &str, options: RunOptions) -> RunRequest {
        let request = RunRequest::new(prompt).options(options);
        if self.door.is_conversation {
            request.input(Input::Messages(Close::WhenIdle))
        } else {
            request
        }
    }

    pub(crate) async fn start(&self, prompt: &str, options: RunOptions) -> RunHandle {
        let request = self.request(prompt, options);
        self.registry.run(self.door.agent.name(), request).await.unwrap()
    }

    pub(crate) async fn run(&self, request: RunRequest) -> RunHandle {
        self.registry.run(self.door.agent.name(), request).await.unwrap()
    }

    /// A run to its end, with every tool allowed.
    pub(crate) async fn play(&self, prompt: &str) -> (Vec<Event>, Completed) {
        finish(self.start(prompt, self.options()).await).await
    }

    /// How often the model was asked to act in a scenario of this name.
    pub(crate) fn calls(&self, scenario: &str) -> u64 {
        let prefix = format!("{scenario}[");
        let requests = self.model.requests().into_iter();
        requests
            .filter(|request| request.label.starts_with(&prefix))
            .count() as u64
    }
}

/// Knows the version without asking.
#[derive(Debug)]
struct PinnedVersion(&'static str);

impl VersionMemory for PinnedVersion {
    fn recall(&self, _program: &ProgramFile) -> Option<Version> {
        Version::find(self.0)
    }

    fn remember(&self, _program: &ProgramFile, _version: Version) {}
}

fn registry(door: Door, workspace: &Workspace, model: &FakeModel, program: PathBuf) -> AgentRegistry {
    let environment = door.agent.environment(workspace, model.base_url());
    let environment = environment
        .iter()
        .fold(Environment::clear(), |cleared, (name, value)| {
            cleared.set(name, value)
        });
    AgentRegistry::builtin_with(|name| {
        let mut config = BackendConfig::default();
        if name == door.agent.name() {
            config.program = Some(program.clone());
            config.defaults.environment = environment.clone();
            config.defaults.cwd = Some(workspace.path());
        }
        config
    })
}

/// The rest of a run. There is exactly one `finished`, and it is the last event.
pub(crate) async fn finish(handle: RunHandle) -> (Vec<Event>, Completed) {
    let RunHandle {
        mut events,
        completion,
        ..
    } = handle;
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event);
    }
    let is_end = |event: &&Event| matches!(event.body, Body::Finished(_));
    assert_eq!(all.iter().filter(is_end).count(), 1);
    assert!(is_end(&all.last().unwrap()));
    (all, completion.await.unwrap())
}

/// Reads events until one is the one that is looked for.
pub(crate) async fn until<T>(events: &mut Events, mut find: impl FnMut(&Event) -> Option<T>) -> T {
    let mut names = Vec::new();
    loop {
        let Some(event) = events.next().await else {
            panic!("the run ended too early, after {names:?}");
        };
        names.push(event.body.name());
        if let Some(found) = find(&event) {
            return found;
        }
        if let Body::Finished(finished) = &event.body {
            panic!("the run ended too early, after {names:?}: {finished:?}");
        }
    }
}

/// A trial on a runtime of its own.
pub(crate) fn trial<F>(door: &Door, name: &str, rounds: u32, test: F) -> Trial
where
    F: AsyncFnOnce(&Stage) + Send + 'static,
{
    let door = *door;
    Trial::test(format!("{}::{name}", door.name), move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let acted: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
            let stage = Stage::new(door).await;
            test(&stage).await;
        });
        runtime
            .block_on(async { tokio::time::timeout(LIMIT * rounds, acted).await })
            .map_err(|_| Failed::from("the test hangs"))
    })
}
