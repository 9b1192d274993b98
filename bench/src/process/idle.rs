//! What a child that does nothing costs us.

use std::process::{Command, Stdio};

use agent_process::{SpawnSpec, StdinMode, spawn};

use super::{explain, runtime};

const CHILDREN: usize = 100;

/// Holds `CHILDREN` idle children in a process of its own and prints what they cost.
pub fn idle_children() -> Result<(), String> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let spec = || {
            let mut spec = SpawnSpec::new("/bin/sleep");
            spec.args = vec!["600".into()];
            spec.stdin = StdinMode::Piped;
            spec
        };
        // One before the count starts: what is set up once is not per child.
        let first = spawn(spec()).await.map_err(explain)?;
        let before = own_kib("/proc/self/smaps_rollup")?;
        let mut children = vec![first];
        for _ in 0..CHILDREN {
            children.push(spawn(spec()).await.map_err(explain)?);
        }
        let after = own_kib("/proc/self/smaps_rollup")?;
        let mut guards = Vec::new();
        for child in &children {
            let guard = parent(child.control.pid())?;
            guards.push(own_kib(&format!("/proc/{guard}/smaps_rollup"))?);
        }
        let guard = guards.iter().sum::<f64>() / guards.len() as f64;
        println!("{:.1} {guard:.1}", (after - before) / CHILDREN as f64);
        for child in &children {
            child.control.kill();
        }
        for child in children {
            child.exit.await;
        }
        Ok(())
    })
}

/// The proportional share of memory, in KiB.
fn own_kib(path: &str) -> Result<f64, String> {
    let text = std::fs::read_to_string(path).map_err(explain)?;
    let share = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    share
        .and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or("no Pss".into())
}

fn parent(pid: u32) -> Result<u32, String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).map_err(explain)?;
    let fields = stat.rsplit_once(") ").ok_or("no stat")?.1;
    fields
        .split(' ')
        .nth(1)
        .and_then(|pid| pid.parse().ok())
        .ok_or("no parent".into())
}

pub fn run() -> Result<(), String> {
    println!(
        "\n## {CHILDREN} idle children\n\n| guard | in our process, KiB each | guard PSS, KiB each |\n|---|---:|---:|"
    );
    for (name, role) in [("forked", "__idle"), ("re-executed", "__idle_reexec")] {
        let own = std::env::current_exe().map_err(explain)?;
        let output = Command::new(own)
            .arg(role)
            .stderr(Stdio::inherit())
            .output()
            .map_err(explain)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (process, guard) = text.trim().split_once(' ').ok_or("the measurement failed")?;
        println!("| {name} | {process} | {guard} |");
    }
    Ok(())
}
