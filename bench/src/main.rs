//! `bench`: measures ralph against its peers and its limits, in one run, on this machine.

mod agents;
mod arguments;
mod corpus;
mod cpu_time;
mod mapping;
mod parser;
mod process;
mod run;
mod search;
mod serve;
mod store;
mod tui;

use std::process::ExitCode;

const USAGE: &str = "\
usage: bench [WHAT [OPTIONS]]      everything, or one of:
  parser      [--fixtures DIR] [--megabytes N] [--rounds N] [--only NAME] [--corpus NAME]
  mapping     [--megabytes N] [--rounds N] [--corpus NAME]
  throughput  [--fixtures DIR] [--megabytes N] [--rounds N]
  latency     [--lines N] [--rounds N]
  memory      [--fixtures DIR]
  idle
  survivors   [--rounds N]
  burst       [--rounds N]
and of `ralph run` as a whole:
  run_start       [--rounds N]
  run_throughput  [--fixtures DIR] [--megabytes N] [--rounds N]
  run_memory      [--fixtures DIR] [--megabytes N]
  run_latency     [--lines N] [--rounds N]
  run_kill        [--rounds N]
  run_idle        [--seconds N]
and of the server's index:
  search          [--records N] [--rounds N] [--seconds N]
  search_postgres [--records N] [--rounds N]
  store           [--lines N] [--megabytes N] [--rounds N]
and of `ralph serve`:
  serve           [--percent N]      all of these, and search and search_postgres
  serve_load      [--agents N] [--clients N] [--seconds N]
  serve_deltas    [--rate N] [--clients N] [--seconds N]
  serve_reconnect [--rounds N]
  serve_stall     [--seconds N]
  serve_answer
  serve_open
  serve_idle      [--runs N] [--seconds N]
  serve_half_open [--sockets N]
  serve_away      [--agents N] [--asks N] [--seconds N]
  serve_kill      [--rounds N] [--agents N] [--runs N]
and of named agents:
  agents_plan     [--agents N] [--rounds N]
and of the terminal UI (tui: all of these):
  tui_open        [--records N] [--keys N] [--rounds N]
  tui_home        [--runs N] [--live N] [--keys N] [--seconds N]
  tui_flood       [--rate N] [--seconds N]
  tui_idle        [--seconds N]
  tui_bytes       [--kib N] [--rate N]";

fn main() -> ExitCode {
    let role = std::env::args().nth(1).unwrap_or_default();
    match role.as_str() {
        "__idle_reexec" => agent_process::guard_main_reexec(),
        // An agent has no children of its own.
        "__ticks" | "__agent" => {}
        _ => agent_process::guard_main(),
    }
    match perform(&role) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn perform(what: &str) -> Result<(), String> {
    let rest = std::env::args().skip(2);
    match what {
        "" => everything(),
        "parser" => parser::run(rest),
        "mapping" => mapping::run(rest),
        "throughput" => process::throughput(rest),
        "latency" => process::latency(rest),
        "memory" => process::memory(rest),
        "idle" => process::idle(),
        "survivors" => process::survivors(rest),
        "burst" => process::burst(rest),
        "run_start" => run::start(rest),
        "run_throughput" => run::throughput(rest),
        "run_memory" => run::memory(rest),
        "run_latency" => run::latency(rest),
        "run_kill" => run::kill(rest),
        "run_idle" => run::idle(rest),
        "search" => search::run(rest),
        "search_postgres" => search::in_postgres(rest),
        "store" => store::run(rest),
        "serve" => serve::all(rest),
        "serve_load" => serve::load(rest),
        "serve_deltas" => serve::deltas(rest),
        "serve_reconnect" => serve::reconnect(rest),
        "serve_stall" => serve::stall(rest),
        "serve_answer" => serve::answer(rest),
        "serve_open" => serve::open(rest),
        "serve_idle" => serve::idle(rest),
        "serve_half_open" => serve::half_open(rest),
        "serve_away" => serve::away(rest),
        "serve_kill" => serve::kill(rest),
        "tui" => tui::all(rest),
        "agents_plan" => agents::plan_all(rest),
        "tui_open" => tui::open(rest),
        "tui_home" => tui::home(rest),
        "tui_flood" => tui::flood(rest),
        "tui_idle" => tui::idle(rest),
        "tui_bytes" => tui::bytes(rest),
        // Measurements that need a process of their own start this program again.
        "__idle" | "__idle_reexec" => process::idle_children(),
        "__memory" => process::memory_child(rest),
        "__agent" => serve::agent(rest),
        "__store_rebuild" => store::rebuild_child(rest),
        "__ticks" => run::ticks(rest),
        "__supervise" => process::supervise(rest),
        _ => Err(USAGE.to_owned()),
    }
}

fn everything() -> Result<(), String> {
    let none = || std::iter::empty();
    parser::run(none())?;
    mapping::run(none())?;
    process::throughput(none())?;
    process::latency(none())?;
    process::memory(none())?;
    process::idle()?;
    process::survivors(none())?;
    process::burst(none())?;
    run::start(none())?;
    run::throughput(none())?;
    run::memory(none())?;
    run::latency(none())?;
    run::kill(none())?;
    run::idle(none())?;
    store::run(none())?;
    serve::all(none())?;
    agents::plan_all(none())?;
    tui::all(none())
}
