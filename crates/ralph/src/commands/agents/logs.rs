//! `ralph agents logs`: what happened to an agent.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use ralph_agents::{AgentName, AgentRecord, AgentStore, read_records};
use ralph_run::Home;

use super::show::show_time;
use super::words::{NamedRecord, describe};
use crate::console::{render_json, write_text};
use crate::current_process::is_stdout_closed;

/// Print what happened to an agent
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents logs docs
  ralph agents logs docs -f
  ralph agents logs docs --json

What the agent did in a run: `ralph logs RUN`.")]
pub struct AgentLogsArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Wait for more
    #[arg(short, long)]
    pub follow: bool,

    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

const LOOK_INTERVAL: Duration = Duration::from_millis(200);

pub(super) async fn execute(args: &AgentLogsArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let store = AgentStore::new(home.clone());
    let id = store.load(&args.name)?.id;
    let path = store.journal(&args.name);
    let mut shown = 0;
    loop {
        shown = show_after(shown, args, &path, out)?;
        // Deleted, or another agent has the name now.
        let is_over = !args.follow || store.load(&args.name).map(|agent| agent.id).ok().as_ref() != Some(&id);
        if is_over || is_stdout_closed() {
            return Ok(0);
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

/// Prints the records after the first `shown` ones. Gives how many there are.
fn show_after(shown: usize, args: &AgentLogsArgs, path: &Path, out: &mut dyn Write) -> anyhow::Result<usize> {
    let mut records: Vec<AgentRecord> = Vec::new();
    read_records(path, |record| records.push(record))?;
    for record in records.iter().skip(shown) {
        let line = match args.json {
            true => {
                let agent = &args.name;
                render_json(&NamedRecord { agent, record })?
            }
            false => format!("{}  {}\n", show_time(record.at), describe(&record.event)),
        };
        write_text(out, &line);
    }
    Ok(records.len())
}
