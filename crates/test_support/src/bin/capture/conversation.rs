//! One process of the CLI, and the host's side of it.

use crate::index;
use crate::scenario::{Input, Run, Step};
use rustix::process::{Pid, Signal as Number, kill_process, kill_process_group};
use serde_json::{Value, json};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;
use test_support::fake_model::FakeModel;
use test_support::real_cli::{Agent, RealCli, Workspace};
use test_support::script::{Signal, fill_template, includes};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;

/// For a whole run; the longest scenario takes 35 s.
const LIMIT: Duration = Duration::from_secs(60);

/// What went where, in order.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    In(String),
    InEnd,
    Out(Vec<u8>),
}

/// What there is to keep.
pub(crate) struct Outcome {
    pub(crate) entries: Vec<Entry>,
    pub(crate) stderr: String,
    pub(crate) ending: Ending,
}

impl Outcome {
    /// The session's id, as the first line that has one tells it.
    pub(crate) fn session(&self) -> Option<String> {
        self.entries.iter().find_map(|entry| {
            let Entry::Out(line) = entry else { return None };
            let line: Value = serde_json::from_slice(line).ok()?;
            let id = ["/thread_id", "/session_id", "/result/sessionId"]
                .iter()
                .find_map(|path| line.pointer(path)?.as_str());
            id.map(str::to_owned)
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Code(i32),
    Signal(i32),
}

struct Host<'a> {
    model: &'a FakeModel,
    workspace: &'a Workspace,
    child: Child,
    stdin: Option<ChildStdin>,
    log: watch::Sender<Vec<Entry>>,
    /// Entries before this one were waited for already.
    seen: usize,
    last: Value,
    /// Answered instead of the last one.
    kept: Value,
}

pub(crate) async fn converse(
    cli: &RealCli,
    run: &Run,
    workspace: &Workspace,
    model: &FakeModel,
) -> io::Result<Outcome> {
    let mut command = Command::new(cli.path());
    command
        .env_clear()
        .envs(cli.agent().environment(workspace, model.base_url()))
        .current_dir(workspace.path());
    if cli.agent() != Agent::Claude {
        command.process_group(0);
    }
    for (name, value) in &run.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .args(&run.arguments)
        .stdin(if matches!(run.input, Input::Nothing) {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let log = watch::Sender::new(Vec::new());
    let output = tokio::spawn(read_lines(child.stdout.take(), log.clone()));
    let errors = tokio::spawn(read_all(child.stderr.take()));
    let stdin = child.stdin.take();
    let mut host = Host {
        model,
        workspace,
        child,
        stdin,
        log,
        seen: 0,
        last: Value::Null,
        kept: Value::Null,
    };
    let play = async {
        if let Input::Text(input) = &run.input {
            host.send(input, "").await;
            host.stdin = None;
        }
        for step in &run.steps {
            host.step(step).await?;
        }
        host.close();
        host.child.wait().await
    };
    let status = match tokio::time::timeout(LIMIT, play).await {
        Ok(status) => status?,
        Err(_) => {
            return Err(io::Error::other(format!(
                "took too long after {}",
                seen(&host.log.borrow())
            )));
        }
    };
    let stderr = errors.await.map_err(io::Error::other)??;
    output.await.map_err(io::Error::other)??;
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    };
    Ok(Outcome {
        entries: host.log.borrow().clone(),
        stderr,
        ending,
    })
}

impl Host<'_> {
    async fn step(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Send(line) => self.say(line.to_string()).await,
            Step::SendText(text) => self.say((*text).to_owned()).await,
            Step::Await(part) => self.wait_for(part).await?,
            Step::Answer(template) => {
                let source = if self.kept.is_null() {
                    &self.last
                } else {
                    &self.kept
                };
                let line = fill_template(template, source, &[]).map_err(io::Error::other)?;
                self.say(line).await;
            }
            Step::Choose(kind) => {
                let options = self.last["params"]["options"].as_array().into_iter().flatten();
                let mut chosen = options.filter(|option| option["kind"] == **kind);
                let option = chosen
                    .next()
                    .ok_or_else(|| io::Error::other(format!("no option of the kind {kind}")))?;
                let outcome = json!({"outcome": "selected", "optionId": option["optionId"]});
                let answer = json!({"jsonrpc": "2.0", "id": self.last["id"], "result": {"outcome": outcome}});
                self.say(answer.to_string()).await;
            }
            Step::AwaitGate(name) => self.model.gate_reached(name).await,
            Step::OpenGate(name) => self.model.open_gate(name),
            Step::AwaitFile(name) => {
                let path = self.workspace.path().join(name);
                while !path.exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            Step::Touch(name) => drop(std::fs::File::create(self.workspace.path().join(name))?),
            Step::Keep => self.kept = self.last.take(),
            Step::AwaitEnd => drop(self.child.wait().await?),
            Step::Signal(signal) => kill_process(self.pid()?, number(*signal))?,
            Step::SignalGroup(signal) => kill_process_group(self.pid()?, number(*signal))?,
            Step::AwaitRequests(count) => {
                self.model
                    .wait_for_request(|request| request.number >= *count)
                    .await;
            }
            Step::Close => self.close(),
        }
        Ok(())
    }

    async fn say(&mut self, line: String) {
        self.send(&line, "\n").await;
        self.log.send_modify(|log| log.push(Entry::In(line)));
    }

    async fn send(&mut self, text: &str, end: &str) {
        if let Some(stdin) = &mut self.stdin {
            // A CLI that has ended already does not read; how it ended is what is captured.
            let _ = stdin.write_all(format!("{text}{end}").as_bytes()).await;
            let _ = stdin.flush().await;
        }
    }

    fn close(&mut self) {
        if self.stdin.take().is_some() {
            self.log.send_modify(|log| log.push(Entry::InEnd));
        }
    }

    async fn wait_for(&mut self, part: &Value) -> io::Result<()> {
        let mut log = self.log.subscribe();
        loop {
            let found = log
                .borrow_and_update()
                .iter()
                .enumerate()
                .skip(self.seen)
                .find_map(|(index, entry)| {
                    let Entry::Out(line) = entry else { return None };
                    let line: Value = serde_json::from_slice(line).ok()?;
                    includes(&line, part).then_some((index, line))
                });
            if let Some((index, line)) = found {
                self.seen = index + 1;
                self.last = line;
                return Ok(());
            }
            tokio::select! {
                changed = log.changed() => changed.map_err(io::Error::other)?,
                status = self.child.wait() => {
                    return Err(io::Error::other(format!("ended with {} before {part} came", status?)));
                }
            }
        }
    }

    fn pid(&self) -> io::Result<Pid> {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        pid.and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("it has ended"))
    }
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::HangUp => Number::HUP,
        Signal::Interrupt => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Abort => Number::ABORT,
        Signal::Kill => Number::KILL,
        Signal::SegmentationFault => Number::SEGV,
        Signal::User1 => Number::USR1,
        Signal::Terminate => Number::TERM,
    }
}

fn seen(entries: &[Entry]) -> String {
    let kinds = entries.iter().map(|entry| match entry {
        Entry::In(_) | Entry::InEnd => "(in)".to_owned(),
        Entry::Out(line) => index::kind_of(&String::from_utf8_lossy(line)),
    });
    index::condense(&kinds.collect::<Vec<_>>())
}

async fn read_lines(
    stdout: Option<impl AsyncRead + Unpin>,
    log: watch::Sender<Vec<Entry>>,
) -> io::Result<()> {
    let Some(stdout) = stdout else { return Ok(()) };
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        log.send_modify(|log| log.push(Entry::Out(line)));
    }
}

async fn read_all(stderr: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stderr) = stderr {
        stderr.read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
