//! A whole server on a port of its own, with an index of its own, and agents that are not there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ralph_run::control::PermissionChoice;
use ralph_run::ports::LocalJournals;
use ralph_run::{Home, RunDirectory};
use ralph_server::http::{ServeOptions, router, serve};
use ralph_server::live::Hub;
use ralph_server::{
    App, AppParts, Auth, AuthOptions, BackendInfo, FoundBackends, LaunchError, Launcher, NewToken, Scope,
    ServerStartLimits, SocketRunners, StartLimits, StartRun, TokenFile,
};
use ralph_store::{SqliteOptions, SqliteStore, Store, catch_up};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;

use crate::agent::Runner;
use crate::client::{Answer, send_raw};

pub(crate) struct Stage {
    pub(crate) home: Home,
    pub(crate) app: Arc<App>,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) launcher: Arc<FakeLauncher>,
    pub(crate) directory: Arc<TempDir>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) serving: JoinHandle<()>,
    ending: watch::Sender<bool>,
}

/// Where runs are, the index, and a workspace.
type Place = (Home, Arc<dyn Store>, PathBuf);

/// Starts nothing, and remembers what it was asked to start.
#[derive(Default)]
pub(crate) struct FakeLauncher {
    pub(crate) started: Mutex<Vec<StartRun>>,
    /// What the runs are called.
    pub(crate) names: Mutex<Vec<String>>,
    pub(crate) refuse: Mutex<Option<LaunchError>>,
    /// Makes the run's directory here, and leaves it there.
    pub(crate) occupied: Mutex<Option<Home>>,
    /// Where runs are, the index, and the workspace that their journals name.
    pub(crate) home: Mutex<Option<Place>>,
    /// Whether runs have a runner, and the runners.
    pub(crate) runners: Mutex<Option<Vec<Runner>>>,
    /// Whether runs are left to the server to find, instead of being in the index at once.
    pub(crate) is_unindexed: AtomicBool,
    /// Is told that a start has begun, and must then be told to go on.
    pub(crate) gate: Mutex<Option<Arc<Gate>>>,
}

#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) begun: Notify,
    pub(crate) go_on: Notify,
}

#[async_trait]
impl Launcher for FakeLauncher {
    async fn start(&self, id: Option<&str>, request: StartRun) -> Result<String, LaunchError> {
        let own_name = || format!("20261116-030000-{:06x}", self.names.lock().unwrap().len());
        let id = &id.map_or_else(own_name, str::to_owned);
        self.names.lock().unwrap().push(id.clone());
        if let Some(home) = self.occupied.lock().unwrap().take() {
            home.create_run_as(id).unwrap();
        }
        if let Some(error) = self.refuse.lock().unwrap().clone() {
            return Err(error);
        }
        let asked = [request.max_cost_micro_usd, request.cost_ceiling_micro_usd];
        let limits = json!({"by": request.by, "max_cost": asked.into_iter().flatten().min()});
        self.started.lock().unwrap().push(request);
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.begun.notify_one();
            gate.go_on.notified().await;
        }
        let home = self.home.lock().unwrap().clone();
        let (home, store, workspace) = home.unwrap();
        let run = home.create_run_as(id).unwrap();
        write_journal_with(&run, &workspace, limits, &[]);
        if self.runners.lock().unwrap().is_some() {
            let runner = Runner::of(&run).await;
            if let Some(runners) = &mut *self.runners.lock().unwrap() {
                runners.push(runner);
            }
            return Ok(id.clone());
        }
        if !self.is_unindexed.load(Ordering::Relaxed) {
            // There is no runner.
            std::fs::remove_file(home.state_directory().join("active").join(id)).unwrap();
            // An index that is away is no concern of a launcher.
            let _ = catch_up(store.as_ref(), &home.runs_directory(), |_| {}).await;
        }
        Ok(id.clone())
    }

    async fn backends(&self, _: Option<&Path>) -> Result<FoundBackends, LaunchError> {
        let items = vec![BackendInfo {
            name: "demo".to_owned(),
            display_name: "Demo".to_owned(),
            is_installed: true,
            version: None,
            path: Some(PathBuf::from("/usr/bin/demo")),
            takes_messages: true,
            takes_model: true,
            permission_modes: vec![PermissionChoice::Ask, PermissionChoice::AcceptEdits],
            can_resume: true,
            can_fork: false,
            can_be_ephemeral: false,
            capabilities: vec!["messages".to_owned()],
            problem: None,
        }];
        Ok(FoundBackends {
            items,
            untrusted: None,
        })
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(ServeOptions::default()).await
    }

    pub(crate) async fn with(options: ServeOptions) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let home = home_in(&directory);
        home.prepare().unwrap();
        let opened = SqliteStore::open(SqliteOptions {
            data_directory: directory.path().join("data"),
            runs_directory: home.runs_directory(),
            home: None,
        });
        let store: Arc<dyn Store> = Arc::new(opened.await.unwrap().store);
        Self::over(directory, store, options).await
    }

    /// With this index.
    pub(crate) async fn with_index(store: Arc<dyn Store>) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        home_in(&directory).prepare().unwrap();
        Self::over(directory, store, ServeOptions::default()).await
    }

    /// A server with limits on starts.
    pub(crate) async fn limited(limits: ServerStartLimits) -> Self {
        let first = Self::new().await;
        let (directory, store) = (Arc::clone(&first.directory), Arc::clone(&first.app.store));
        Self::over_with(directory, store, ServeOptions::default(), limits).await
    }

    /// Another server with the same index and the same runs, as after a restart.
    pub(crate) async fn beside(&self) -> Self {
        let (directory, store) = (Arc::clone(&self.directory), Arc::clone(&self.app.store));
        Self::over(directory, store, ServeOptions::default()).await
    }

    async fn over(directory: Arc<TempDir>, store: Arc<dyn Store>, options: ServeOptions) -> Self {
        Self::over_with(directory, store, options, ServerStartLimits::default()).await
    }

    async fn over_with(
        directory: Arc<TempDir>,
        store: Arc<dyn Store>,
        options: ServeOptions,
        limits: ServerStartLimits,
    ) -> Self {
        let home = home_in(&directory);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let auth = Auth::open(&AuthOptions {
            state_directory: home.state_directory().to_owned(),
            port: address.port(),
            names: vec!["ralph.example".to_owned()],
        });
        let mut auth = auth.unwrap().with_start_limits(limits);
        if options.tls.is_some() {
            auth = auth.with_tls();
        }
        let token = std::fs::read_to_string(auth.token_path())
            .unwrap()
            .trim()
            .to_owned();
        let launcher = Arc::new(FakeLauncher::default());
        let workspace = directory.path().join("workspace");
        *launcher.home.lock().unwrap() = Some((home.clone(), Arc::clone(&store), workspace));
        let (ending, is_ending) = watch::channel(false);
        let journals = Arc::new(LocalJournals::new(home.clone()));
        let live = Hub::new(journals.clone(), Arc::clone(&store));
        live.set_caught_up();
        let app = Arc::new(App::new(AppParts {
            live,
            store,
            journals,
            runners: Arc::new(SocketRunners::new(home.clone())),
            launcher: launcher.clone(),
            auth,
            ending: is_ending,
            state_directory: home.state_directory().to_owned(),
        }));
        let watched = Arc::clone(&app);
        tokio::spawn(async move { watched.auth.watch_tokens().await });
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { drop(stopped.await) };
        let serving = tokio::spawn(serve(listener, router(Arc::clone(&app)), shutdown, options));
        Self {
            app,
            home,
            address,
            token,
            launcher,
            directory,
            stop: Some(stop),
            serving,
            ending,
        }
    }

    /// Asks the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Lets those who watch go.
    pub(crate) fn end_streams(&self) {
        self.ending.send_replace(true);
    }

    /// A request as it goes over the wire, with these headers beside `Host`.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        text.into_bytes()
    }

    /// Asks with these headers and nothing else.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        send_raw(self.address, &self.request(method, path, headers, body)).await
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Logs in as a browser does. Gives the key of the session.
    pub(crate) async fn log_in(&self) -> String {
        let body = json!({"token": self.token}).to_string();
        let headers = [("content-type", "application/json"), ("user-agent", "Firefox/1")];
        let answer = self.ask("POST", "/api/v1/login", &headers, &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["key"].as_str().unwrap().to_owned()
    }

    pub(crate) fn tokens(&self) -> TokenFile {
        TokenFile::in_directory(self.home.state_directory())
    }

    /// Makes a token. Gives what a script sends with it.
    pub(crate) fn token_named(&self, name: &str, scope: Scope) -> String {
        self.token_with(NewToken {
            name: name.to_owned(),
            scope,
            workspaces: Vec::new(),
            limits: StartLimits::default(),
            expires_at: None,
        })
    }

    pub(crate) fn token_with(&self, new: NewToken) -> String {
        let secret = self.tokens().create(new, jiff::Timestamp::now()).unwrap();
        format!("Bearer {secret}")
    }

    /// A ticket for whoever this is.
    pub(crate) async fn ticket(&self, bearer: &str) -> String {
        let headers = [("authorization", bearer)];
        let answer = self.ask("POST", "/api/v1/tickets", &headers, "").await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["ticket"].as_str().unwrap().to_owned()
    }

    /// Asks as a script does.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("authorization", &self.bearer())], "")
            .await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, &[], &body.to_string()).await
    }

    pub(crate) async fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.with_body("POST", path, headers, body).await
    }

    pub(crate) async fn with_body(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let bearer = self.bearer();
        let mut all = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        all.extend(headers);
        self.ask(method, path, &all, body).await
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    /// A run on the disk with these events after its first record, in the index as well.
    pub(crate) async fn run(&self, events: &[Value]) -> RunDirectory {
        self.run_in(&self.workspace(), events).await
    }

    /// As [`Self::run`], in another workspace.
    pub(crate) async fn run_in(&self, workspace: &Path, events: &[Value]) -> RunDirectory {
        let run = self.home.create_run(jiff::Timestamp::now()).unwrap();
        write_journal(&run, workspace, events);
        self.index().await;
        run
    }

    /// A run has no runner any more.
    pub(crate) fn lose_runner(&self, run: &RunDirectory) {
        std::fs::remove_file(self.home.state_directory().join("active").join(run.id())).unwrap();
    }

    /// Adds events to a run's journal, and not to the index.
    pub(crate) fn append(&self, run: &RunDirectory, events: &[Value]) {
        let mut text = std::fs::read_to_string(run.journal()).unwrap();
        let last = text.lines().count();
        for (index, event) in events.iter().enumerate() {
            text.push_str(&record(last + index + 1, event));
        }
        std::fs::write(run.journal(), text).unwrap();
    }

    /// Brings the index up to date.
    pub(crate) async fn index(&self) {
        let runs = self.home.runs_directory();
        catch_up(self.app.store.as_ref(), &runs, |_| {}).await.unwrap();
        self.app.store.index_texts().await.unwrap();
    }
}

fn home_in(directory: &TempDir) -> Home {
    Home::new(directory.path().join("state"), None)
}

pub(crate) fn write_journal(run: &RunDirectory, workspace: &Path, events: &[Value]) {
    write_journal_with(run, workspace, json!({}), events);
}

/// With these fields more in its first record.
fn write_journal_with(run: &RunDirectory, workspace: &Path, more: Value, events: &[Value]) {
    let mut started = json!({"type": "run_started", "data": {
        "format_version": 1, "run_id": run.id(), "ralph_version": "0.1.0", "workspace": workspace,
        "backend": "demo", "display_name": "Demo", "max_iterations": 1,
    }});
    for (name, value) in more.as_object().unwrap() {
        started["data"][name] = value.clone();
    }
    let mut text = String::new();
    for (index, event) in std::iter::once(&started).chain(events).enumerate() {
        text.push_str(&record(index + 1, event));
    }
    std::fs::write(run.journal(), text).unwrap();
}

fn record(seq: usize, event: &Value) -> String {
    let record = json!({
        "seq": seq, "at": "2026-11-16T03:00:00Z", "iteration": 1, "attempt": 1, "event": event,
    });
    format!("{record}\n")
}

/// Something the agent wrote.
pub(crate) fn wrote(number: usize, text: &str) -> Value {
    json!({"agent_kind": "demo", "type": "text_block", "data": {"item": format!("m/{number}"), "text": text}})
}

/// The agent asks whether a tool may run.
pub(crate) fn asked(request: &str) -> Value {
    let data = json!({"request": request, "tool": "Bash", "kind": "execute"});
    json!({"agent_kind": "demo", "type": "permission_requested", "data": data})
}

/// The agent has a conversation.
pub(crate) fn ended() -> Value {
    json!({"type": "run_ended", "data": {"reason": "completed", "exit_code": 0, "totals": {
        "tokens": {}, "turns": 1, "duration_ms": 5}}})
}
