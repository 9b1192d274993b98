//! `read_answer()`: what an agent wrote in a run, from its journal.

use agent_api::{Body, ItemId};
use anyhow::Context as _;
use ralph_run::{Home, RunEvent, read_journal};

/// All texts of the main conversation. Later ones may repeat earlier ones: the last one counts.
pub(super) fn read_answer(home: &Home, run_id: &str) -> anyhow::Result<String> {
    let run = home.run(run_id).context("the run of the planner is gone")?;
    let journal = read_journal(&run.journal()).context("cannot read the journal of the planner")?;
    let mut texts: Vec<(ItemId, String)> = Vec::new();
    for record in journal {
        let RunEvent::Agent(event) = record?.event else {
            continue;
        };
        let Body::TextBlock(block) = event.body else {
            continue;
        };
        if event.parent.is_some() {
            continue;
        }
        match texts.iter_mut().find(|(item, _)| *item == block.item) {
            Some((_, text)) if block.piece.index > 0 => text.push_str(&block.text),
            Some((_, text)) => *text = block.text,
            None => texts.push((block.item, block.text)),
        }
    }
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    Ok(texts.join("\n"))
}
