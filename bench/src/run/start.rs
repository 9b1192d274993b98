//! How much later a run ends than its agent alone would.

use std::fs::File;
use std::process::Command;

use test_support::dialect::Session;
use test_support::script::Script;

use super::stage::{Stage, timed};
use crate::arguments::Arguments;
use crate::process::{explain, median, milliseconds};

/// A `claude` is asked for its version before each start, a `custom` command never.
const WAYS: [(&str, &str, &str); 2] = [
    ("claude, asked for its version first", "claude", ""),
    ("custom, never asked", "custom", "  output_format: stream-json\n"),
];

struct Way {
    name: &'static str,
    stage: Stage,
    direct: Vec<f64>,
    ours: Vec<f64>,
}

/// `bench run_start`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds"])?;
    let rounds = arguments.number("rounds", 41)?;
    let mut ways = Vec::new();
    for (name, backend, more) in WAYS {
        let stage = Stage::scripted(&format!("start-{backend}"), &answers_at_once(), backend, more)?;
        std::fs::write(stage.path("message"), "{}\n").map_err(explain)?;
        ways.push(Way {
            name,
            stage,
            direct: Vec::new(),
            ours: Vec::new(),
        });
    }
    // The first round fills caches and is not counted.
    for round in 0..=rounds {
        for way in &mut ways {
            let direct = milliseconds(timed(&mut directly(&way.stage)?)?.0);
            let args = ["run", "--quiet", "--once", "-p", "x"];
            let ours = milliseconds(timed(&mut way.stage.ralph(&args))?.0);
            way.stage.forget()?;
            if round > 0 {
                way.direct.push(direct);
                way.ours.push(ours);
            }
        }
    }
    println!(
        "\n## Start to end of `ralph run --quiet` with an agent that answers at once, {rounds} rounds\n"
    );
    println!(
        "| agent | directly, median ms | ralph, median ms | added, median ms | added, best to best ms |"
    );
    println!("|---|---:|---:|---:|---:|");
    for way in &mut ways {
        let mut added: Vec<f64> = way
            .ours
            .iter()
            .zip(&way.direct)
            .map(|(ours, direct)| ours - direct)
            .collect();
        let (direct, ours) = (median(&mut way.direct), median(&mut way.ours));
        // Sorted by now.
        let best = way.ours[0] - way.direct[0];
        println!(
            "| {} | {direct:.1} | {ours:.1} | {:.1} | {best:.1} |",
            way.name,
            median(&mut added)
        );
    }
    println!("\nAllowed: 15 ms.");
    Ok(())
}

fn answers_at_once() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    let text = session.text("LOOP_COMPLETE");
    Script::new()
        .read_line()
        .emit(init)
        .emit(text)
        .emit(session.result("LOOP_COMPLETE"))
}

fn directly(stage: &Stage) -> Result<Command, String> {
    let mut command = stage.command(test_support::bin("fake_claude").map_err(explain)?);
    command.stdin(File::open(stage.path("message")).map_err(explain)?);
    Ok(command)
}
