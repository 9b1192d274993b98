//! How much of a core a run takes while it waits: for a usage limit to reset, and for a permission.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::param::clock_ticks_per_second;
use serde_json::{Value, json};
use test_support::dialect::Session;
use test_support::script::Script;

use super::memory::{family, runner_of};
use super::stage::{Stage, timed};
use crate::arguments::Arguments;
use crate::process::explain;

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Until what the start took is over.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// `bench run_idle`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["seconds"])?;
    let seconds = Duration::from_secs(arguments.number("seconds", 30)? as u64);
    println!("\n## Processor time of a detached run that waits, agent not counted\n");
    println!("| waits for | seconds | % of a core | allowed |\n|---|---:|---:|---:|");
    let limit = Stage::scripted("idle-limit", &limited(), "claude", "")?;
    waiting(&limit, "limit", &[], seconds)?;
    let permission = Stage::scripted("idle-permission", &asks(), "claude", "ask_timeout: 1h\n")?;
    waiting(&permission, "permission", &["--ask"], seconds)
}

fn waiting(stage: &Stage, what: &str, args: &[&str], time: Duration) -> Result<(), String> {
    timed(&mut stage.ralph(&[&["run", "--detach", "-p", "x"], args].concat()))?;
    let run = stage.runs().pop().ok_or("there is no run")?;
    let share = measure(&run, what, time);
    // Whatever came of that, nothing is left running.
    timed(&mut stage.ralph(&["stop", "--all"]))?;
    println!("| {what} | {} | {:.3} | 0.2 |", time.as_secs(), share?);
    Ok(())
}

/// In percent of a core, once the run waits.
fn measure(run: &Path, what: &str, time: Duration) -> Result<f64, String> {
    let deadline = Instant::now() + START_TIMEOUT;
    while read(run).ok().is_none_or(|file| file["status"]["for"] != what) {
        if Instant::now() > deadline {
            return Err(format!("the run does not wait for a {what}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(SETTLE_TIME);
    let runner = runner_of(run)?;
    let (start, before) = (Instant::now(), busy(runner)?);
    std::thread::sleep(time);
    let after = busy(runner)?;
    let seconds = (after - before) as f64 / clock_ticks_per_second() as f64;
    Ok(100.0 * seconds / start.elapsed().as_secs_f64())
}

fn read(run: &Path) -> Result<Value, String> {
    let text = std::fs::read(run.join("run.json")).map_err(explain)?;
    serde_json::from_slice(&text).map_err(explain)
}

/// The processor time of the runner and what it started to watch its agent, in ticks of the clock.
fn busy(runner: u32) -> Result<u64, String> {
    let mut ticks = 0;
    for (pid, _) in family(runner)? {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).map_err(explain)?;
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        // In user and in system mode: fields 14 and 15, counted from the name, which is the second.
        let times = fields.split_ascii_whitespace().skip(11).take(2);
        ticks += times.filter_map(|time| time.parse::<u64>().ok()).sum::<u64>();
    }
    Ok(ticks)
}

fn begun() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    Script::new().read_line().emit(session.init("/"))
}

/// Its usage limit resets in an hour.
fn limited() -> Script {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let resets_at = now.map_or(0, |now| now.as_secs()) + 3_600;
    let limit = json!({
        "type": "rate_limit_event", "session_id": "s",
        "rate_limit_info": {"status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour"},
    });
    let failed = json!({
        "type": "result", "subtype": "success", "is_error": true, "session_id": "s", "num_turns": 1,
        "result": "You've hit your 5-hour limit", "api_error_status": 429, "duration_ms": 10,
    });
    begun()
        .emit(limit.to_string())
        .emit(failed.to_string())
        .read_to_end()
}

fn asks() -> Script {
    let asked = json!({
        "type": "control_request", "request_id": "p",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "t"},
    });
    begun().emit(asked.to_string()).read_to_end()
}
