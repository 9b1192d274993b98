//! Trials that hold for every transport and every kind of guard.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod ending;
#[cfg(target_os = "linux")]
mod family;
mod output;
#[cfg(unix)]
mod signals;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_process::{Exit, ExitReport, GuardKind, Process, SpawnSpec, StdoutMode, capabilities, spawn};
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;
use test_support::script::{Script, ScriptedAgent};

/// Far more than any trial takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How often a condition that another process makes true is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

pub(crate) const TRANSPORTS: &[(&str, StdoutMode)] = &[
    ("pipe", StdoutMode::Pipe),
    ("spool", StdoutMode::Spool),
    #[cfg(unix)]
    (
        "pty",
        StdoutMode::Pty {
            columns: 80,
            rows: 24,
        },
    ),
];

/// As the first argument, makes this program end its first thread and live on in its second one.
#[cfg(target_os = "linux")]
pub(crate) const END_FIRST_THREAD: &str = "__end_first_thread";

/// Runs all trials with guards of this kind.
pub(crate) fn run_trials(guard: GuardKind) -> ! {
    #[cfg(target_os = "linux")]
    if std::env::args()
        .nth(1)
        .is_some_and(|first| first == END_FIRST_THREAD)
    {
        end_first_thread();
    }
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("the_guard_in_force_is_reported", move || {
        assert_eq!(capabilities().guard, guard);
        Ok(())
    })];
    trials.extend(output::trials());
    trials.extend(ending::trials());
    trials.extend(bad_input::trials());
    #[cfg(unix)]
    trials.extend(signals::trials());
    #[cfg(target_os = "linux")]
    if guard != GuardKind::None {
        trials.extend(family::trials());
    }
    libtest_mimic::run(&arguments, trials).exit()
}

/// The system shows such a process as a zombie although it lives. Says `ready` once that is so.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the standard library cannot end the first thread alone"
)]
fn end_first_thread() -> ! {
    use std::io::Write;
    std::thread::spawn(|| {
        let stat = format!("/proc/{}/stat", std::process::id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
            std::thread::sleep(POLL_INTERVAL);
        }
        std::io::stdout().write_all(b"ready\n").unwrap();
        std::thread::sleep(LIMIT);
        std::process::exit(0)
    });
    // SAFETY: the thread ends without unwinding, and the other one uses nothing of it.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    unreachable!("the thread has ended")
}

/// Waits for a condition that another process makes true. The trial's own limit ends the wait.
pub(crate) async fn wait_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// A trial on a runtime of its own, with a folder of its own, within [`LIMIT`].
pub(crate) fn trial<F, T>(name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce(Scene) -> T + Send + 'static,
    T: Future<Output = ()>,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let scene = Scene {
            folder: TempDir::with_prefix("agent-process-")?,
        };
        runtime
            .block_on(async { tokio::time::timeout(LIMIT, test(scene)).await })
            .map_err(|_| Failed::from("the test hangs"))
    })
}

/// One trial for each transport.
pub(crate) fn for_each_transport<F, T>(name: &str, test: F) -> Vec<Trial>
where
    F: Fn(Scene, StdoutMode) -> T + Copy + Send + 'static,
    T: Future<Output = ()>,
{
    let one = |&(transport, mode): &(&str, StdoutMode)| {
        trial(format!("{name}_over_{transport}"), move |scene| test(scene, mode))
    };
    TRANSPORTS.iter().map(one).collect()
}

/// A test's own folder and the children it starts there.
pub(crate) struct Scene {
    folder: TempDir,
}

impl Scene {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn spec(&self, script: &Script) -> SpawnSpec {
        let ScriptedAgent {
            program, arguments, ..
        } = script.install_in(self.folder()).unwrap();
        let mut spec = SpawnSpec::new(program);
        spec.args = arguments;
        spec.cwd = Some(self.folder().into());
        spec.raw_log = Some(self.path("raw.ndjson"));
        spec
    }

    pub(crate) fn raw_log(&self) -> Vec<u8> {
        std::fs::read(self.path("raw.ndjson")).unwrap()
    }
}

/// A script that says it is there and then waits for whatever comes.
pub(crate) fn waiting() -> Script {
    Script::new().emit("ready").sleep_forever()
}

/// Starts a child and waits for its first output.
pub(crate) async fn spawn_ready(spec: SpawnSpec) -> Process {
    let mut process = spawn(spec).await.unwrap();
    let first = process.output.next_chunk().await.unwrap().unwrap();
    assert_eq!(first, "ready\n");
    process
}

/// Reads all output, then the exit.
pub(crate) async fn collect(process: Process) -> (Vec<u8>, ExitReport) {
    let Process {
        mut output,
        exit,
        control: _control,
        stdin: _stdin,
        stderr: _stderr,
    } = process;
    let mut bytes = Vec::new();
    while let Some(chunk) = output.next_chunk().await {
        bytes.extend_from_slice(&chunk.unwrap());
    }
    (bytes, exit.await)
}

pub(crate) async fn run(spec: SpawnSpec) -> (Vec<u8>, ExitReport) {
    collect(spawn(spec).await.unwrap()).await
}

pub(crate) fn with_transport(mut spec: SpawnSpec, stdout: StdoutMode) -> SpawnSpec {
    spec.stdout = stdout;
    spec
}

#[cfg(target_os = "linux")]
pub(crate) fn isolated(mut spec: SpawnSpec) -> SpawnSpec {
    spec.isolation = agent_process::Isolation::PidNamespace;
    spec
}

pub(crate) fn assert_success(report: &ExitReport) {
    let stderr = String::from_utf8_lossy(&report.stderr_tail);
    assert_eq!(report.exit, Exit::Code(0), "stderr: {stderr}");
}
