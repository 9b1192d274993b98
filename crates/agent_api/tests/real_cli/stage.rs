//! A real CLI behind the registry, isolated, with a scripted model to talk to.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::{
    AgentRegistry, BackendConfig, Body, Close, Completed, Environment, Event, Events, Input, PermissionMode,
    RunHandle, RunOptions, RunRequest,
};
use libtest_mimic::{Failed, Trial};
use test_support::fake_model::FakeModel;
use test_support::real_cli::{RealClaude, Workspace};

/// Nothing here takes so long unless it hangs.
const LIMIT: Duration = Duration::from_secs(90);

/// One CLI version, one model, one workspace.
pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) workspace: Workspace,
    pub(crate) registry: AgentRegistry,
    logs: AtomicU32,
}

impl Stage {
    async fn new(version: &str) -> Self {
        let cli = RealClaude::install(version).unwrap();
        let model = FakeModel::start().await.unwrap();
        let workspace = Workspace::create().unwrap();
        let environment = workspace.environment(model.base_url());
        let environment = environment
            .iter()
            .fold(Environment::clear(), |cleared, (name, value)| {
                cleared.set(name, value)
            });
        let mut defaults = RunOptions::new();
        defaults.environment = environment;
        defaults.cwd = Some(workspace.path().to_path_buf());
        let registry = AgentRegistry::new()
            .with(ClaudeCode::configured(BackendConfig {
                program: Some(cli.path().to_path_buf()),
                defaults,
            }))
            .unwrap();
        Self {
            model,
            workspace,
            registry,
            logs: AtomicU32::new(0),
        }
    }

    /// Options that let every tool run, with a raw log of their own.
    pub(crate) fn options(&self) -> RunOptions {
        self.options_with(PermissionMode::Bypass)
    }

    pub(crate) fn options_with(&self, mode: PermissionMode) -> RunOptions {
        let log = format!("run-{}.ndjson", self.logs.fetch_add(1, Ordering::Relaxed));
        let mut options = RunOptions::new();
        options.permission_mode = Some(mode);
        options.raw_log = Some(self.workspace.root().join(log));
        options
    }

    pub(crate) async fn start(&self, prompt: &str, options: RunOptions) -> RunHandle {
        let request = RunRequest::new(prompt).options(options);
        self.registry.run("claude_code", request).await.unwrap()
    }

    /// Starts a run that can be told more.
    pub(crate) async fn converse(&self, prompt: &str, close: Close, mut options: RunOptions) -> RunHandle {
        options.permission_host = Some(agent_api::PermissionHost::Caller);
        let request = RunRequest::new(prompt)
            .options(options)
            .input(Input::Messages(close));
        self.registry.run("claude_code", request).await.unwrap()
    }

    /// A run to its end.
    pub(crate) async fn play(&self, prompt: &str, options: RunOptions) -> (Vec<Event>, Completed) {
        finish(self.start(prompt, options).await).await
    }
}

/// The rest of a run.
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
    let finished = all
        .iter()
        .filter(|event| matches!(event.body, Body::Finished(_)))
        .count();
    assert_eq!(finished, 1);
    assert!(matches!(all.last().unwrap().body, Body::Finished(_)));
    (all, completion.await.unwrap())
}

/// Reads events until one is what is looked for.
pub(crate) async fn until<T>(events: &mut Events, mut find: impl FnMut(&Event) -> Option<T>) -> T {
    loop {
        let event = events.next().await.expect("the stream ended too early");
        if let Some(found) = find(&event) {
            return found;
        }
    }
}

pub(crate) fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// A trial on a runtime of its own, within [`LIMIT`].
pub(crate) fn trial<F>(version: &'static str, name: impl Into<String>, test: F) -> Trial
where
    F: AsyncFnOnce(&Stage) + Send + 'static,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let acted: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
            let stage = Stage::new(version).await;
            test(&stage).await;
        });
        runtime
            .block_on(async { tokio::time::timeout(LIMIT, acted).await })
            .map_err(|_| Failed::from("the test hangs"))
    })
}
