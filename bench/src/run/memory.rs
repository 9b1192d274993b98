//! What a run takes while a lot passes through it, and while nothing does.

use std::path::Path;
use std::time::{Duration, Instant};

use test_support::dialect::Session;
use test_support::script::Script;

use super::stage::{Stage, timed};
use super::throughput::{check, configure};
use crate::arguments::Arguments;
use crate::corpus::{Corpus, FIXTURES};
use crate::process::explain;

const LIMIT: Duration = Duration::from_secs(20);
/// The stream repeats a file of this size.
const FILE_MEGABYTES: usize = 100;

/// `bench run_memory`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["fixtures", "megabytes"])?;
    let times = arguments.number("megabytes", 1000)?.div_ceil(FILE_MEGABYTES);
    let fixtures = arguments.text("fixtures", FIXTURES);
    println!("\n## Memory of `ralph run --quiet` while a stream passes through it\n");
    println!("| stream | MB | seconds | peak RSS MB | allowed | of it not the program's own file, MB |");
    println!("|---|---:|---:|---:|---:|---:|");
    let size_bytes = FILE_MEGABYTES * 1_000_000;
    stream(&Corpus::of_mixed(Path::new(&fixtures), size_bytes)?, times)?;
    stream(&Corpus::of_fixtures(Path::new(&fixtures), size_bytes)?, times)?;
    idle()
}

fn stream(corpus: &Corpus, times: usize) -> Result<(), String> {
    let stage = Stage::new("memory", "")?;
    let file = stage.path("corpus");
    std::fs::write(&file, &corpus.bytes).map_err(explain)?;
    configure(&stage, &vec![file.as_path(); times])?;
    let start = Instant::now();
    let mut child = stage
        .ralph(&["run", "--quiet", "--once", "-p", "x"])
        .spawn()
        .map_err(explain)?;
    let (mut peak, mut anonymous) = (0.0, 0.0);
    // The kernel keeps the peak, so that a look now and then is enough. It keeps none of the anonymous part.
    while child.try_wait().map_err(explain)?.is_none() {
        let status = format!("/proc/{}/status", child.id());
        let field = |name, before| kib(Path::new(&status), name).map_or(before, |now| f64::max(before, now));
        peak = field("VmHWM:", peak);
        anonymous = field("RssAnon:", anonymous);
        std::thread::sleep(Duration::from_millis(10));
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes = (corpus.bytes.len() * times) as u64;
    check(&stage, bytes)?;
    let (megabytes, peak, anonymous) = (bytes as f64 / 1e6, peak * 1024.0 / 1e6, anonymous * 1024.0 / 1e6);
    println!(
        "| {} | {megabytes:.0} | {seconds:.1} | {peak:.1} | 12 | {anonymous:.1} |",
        corpus.name
    );
    Ok(())
}

/// A detached run whose agent does nothing.
fn idle() -> Result<(), String> {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let script = Script::new().read_line().emit(session.init("/"));
    println!("\n## Proportional share (PSS) of a detached run whose agent is idle\n");
    println!("| process | PSS MB | of it not the program's own file, MB |\n|---|---:|---:|");
    let stage = Stage::scripted("idle", &script.sleep_forever(), "claude", "")?;
    timed(&mut stage.ralph(&["run", "--detach", "-p", "x"]))?;
    let run = stage.runs().pop().ok_or("there is no run")?;
    let runner = wait_for_agent(&run)?;
    let shares = shares(runner);
    // Whatever came of that, nothing is left running.
    timed(&mut stage.ralph(&["stop", "--all"]))?;
    let shares = shares?;
    for (name, share, anonymous) in &shares {
        println!("| {name} | {share:.2} | {anonymous:.2} |");
    }
    let sum: f64 = shares.iter().map(|(_, share, _)| share).sum();
    let anonymous: f64 = shares.iter().map(|(.., anonymous)| anonymous).sum();
    println!("| all of it (allowed: 4.5) | {sum:.2} | {anonymous:.2} |");
    Ok(())
}

/// The runner's number, once its agent has said something.
fn wait_for_agent(run: &Path) -> Result<u32, String> {
    let deadline = Instant::now() + LIMIT;
    while std::fs::metadata(run.join("raw/1.ndjson")).map_or(0, |metadata| metadata.len()) == 0 {
        if Instant::now() > deadline {
            return Err("the agent did not start".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Until what the start took is given back.
    std::thread::sleep(Duration::from_secs(2));
    runner_of(run)
}

/// The runner's number.
pub(super) fn runner_of(run: &Path) -> Result<u32, String> {
    let text = std::fs::read(run.join("run.json")).map_err(explain)?;
    let file: serde_json::Value = serde_json::from_slice(&text).map_err(explain)?;
    let pid = file["runner"]["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok());
    pid.ok_or("no runner".into())
}

/// The runner and what it started to watch its agent, in MB; not the agent.
fn shares(runner: u32) -> Result<Vec<(String, f64, f64)>, String> {
    let mut shares = Vec::new();
    for (pid, name) in family(runner)? {
        let rollup = format!("/proc/{pid}/smaps_rollup");
        let share = |field| {
            kib(Path::new(&rollup), field)
                .map(|kib| kib * 1024.0 / 1e6)
                .ok_or("no Pss")
        };
        shares.push((name.to_owned(), share("Pss:")?, share("Pss_Anon:")?));
    }
    Ok(shares)
}

/// The runner, its zygote and its guards; not the agent.
pub(super) fn family(runner: u32) -> Result<Vec<(u32, &'static str)>, String> {
    let own = std::fs::read_link(format!("/proc/{runner}/exe")).map_err(explain)?;
    let (mut family, mut open) = (Vec::new(), vec![(runner, "runner")]);
    while let Some((pid, name)) = open.pop() {
        if std::fs::read_link(format!("/proc/{pid}/exe")).ok().as_ref() == Some(&own) {
            family.push((pid, name));
            let next = if name == "runner" { "zygote" } else { "guard" };
            open.extend(children(pid).into_iter().map(|child| (child, next)));
        }
    }
    Ok(family)
}

fn children(parent: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let relatives = test_support::recorded::relatives(&pid.to_string());
        relatives.is_some_and(|relatives| relatives.parent == parent)
    };
    pids.filter(is_child).collect()
}

fn kib(file: &Path, field: &str) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(field))?;
    value.trim().trim_end_matches("kB").trim().parse().ok()
}
