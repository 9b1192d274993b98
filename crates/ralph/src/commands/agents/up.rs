//! `ralph agents up`: the reconciler in the foreground.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use ralph_agents::{Action, AgentName, AgentStore, NoWork, Reconciler, RoundReport};
use ralph_run::{Home, short_run_id};
use run_view::one_line;

use super::AgentsUpArgs;
use super::launch::AgentRuns;
use super::show::show_time;
use super::words::{NamedRecord, describe};
use crate::commands::run::{ending, listen};
use crate::commands::runs::note_lost;
use crate::console::{render_json, write_stderr, write_text};

const MESSAGE_COLUMNS: usize = 500;

pub(super) async fn execute(args: &AgentsUpArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    home.prepare()?;
    let mut signals = listen(ending())?;
    let (storage, runs) = (AgentStore::new(home.clone()), AgentRuns::new(home.clone()));
    let mut reconciler = Reconciler::open(storage, runs, Arc::new(NoWork), Timestamp::now())?;
    note_lost(home)?;
    write_stderr("ralph: keeping agents up; Ctrl-C ends this, runs continue\n");
    let mut view = View {
        is_json: args.json,
        shown: HashMap::new(),
        problems: Vec::new(),
        out,
    };
    let end = async {
        signals.recv().await;
    };
    reconciler.run(end, |report| view.show(report)).await?;
    let active = reconciler.active_runs();
    write_stderr(&describe_rest(&active));
    Ok(0)
}

/// What continues without this process.
fn describe_rest(active: &[(AgentName, String)]) -> String {
    if active.is_empty() {
        return "ralph: no agent is at work; `ralph agents up` starts them again\n".to_owned();
    }
    let mut text = "ralph: these runs continue; the next `ralph agents up` adopts them:\n".to_owned();
    for (name, run) in active {
        let run = short_run_id(run);
        text.push_str(&format!("  {name}: run {run} (`ralph stop {run}` ends it)\n"));
    }
    text
}

/// Prints what happens, and each reason to wait when it changes.
struct View<'a> {
    is_json: bool,
    /// The last reason of each agent.
    shown: HashMap<AgentName, String>,
    /// Those of the last round.
    problems: Vec<String>,
    out: &'a mut dyn Write,
}

impl View<'_> {
    fn show(&mut self, report: &RoundReport) {
        for (agent, record) in &report.records {
            match self.is_json {
                true => self.print_json(&NamedRecord { agent, record }),
                false => self.print(record.at, agent, &describe(&record.event)),
            }
        }
        for decision in &report.decisions {
            let is_quiet = !matches!(decision.action, Action::Wait { until: Some(_) });
            let reason = if is_quiet { "" } else { decision.reason.as_ref() };
            if self
                .shown
                .get(&decision.agent)
                .is_some_and(|shown| shown == reason)
            {
                continue;
            }
            self.shown.insert(decision.agent.clone(), reason.to_owned());
            if let Action::Wait { until: Some(until) } = decision.action {
                match self.is_json {
                    true => {
                        let waits = serde_json::json!({
                            "at": Timestamp::now(), "agent": decision.agent, "type": "waits", "until": until,
                            "reason": reason,
                        });
                        self.print_json(&waits);
                    }
                    false => {
                        let text = format!("waits until {}: {reason}", show_time(until));
                        self.print(Timestamp::now(), &decision.agent, &text);
                    }
                }
            }
        }
        for problem in report
            .problems
            .iter()
            .filter(|problem| !self.problems.contains(problem))
        {
            write_stderr(&format!("ralph: {}\n", one_line(problem, MESSAGE_COLUMNS)));
        }
        // Each is said once, until it is gone.
        self.problems.clone_from(&report.problems);
    }

    fn print(&mut self, at: Timestamp, agent: &AgentName, text: &str) {
        let text = one_line(text, MESSAGE_COLUMNS);
        write_text(
            self.out,
            &format!("{} {agent}: {text}\n", at.strftime("%H:%M:%S")),
        );
    }

    fn print_json(&mut self, value: &impl serde::Serialize) {
        if let Ok(line) = render_json(value) {
            write_text(self.out, &line);
        }
    }
}
