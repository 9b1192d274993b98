//! `ralph tasks show`: one task in full.

use ralph_tasks::{Base, Card, Permissions, Status};
use run_view::sanitise;
use serde::Serialize;

use super::list::Listed;
use super::{ShowTaskArgs, Workplace};
use crate::console::{render_json_pretty, write_stdout};
use crate::settings::show_duration;

#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    listed: Listed<'a>,
    status: Status,
    verify: &'a [String],
    body: &'a str,
}

pub(super) async fn execute(args: &ShowTaskArgs, place: &Workplace) -> anyhow::Result<u8> {
    let read = place.read().await?;
    let task = read.backlog.find(&args.id)?;
    let board = read.board();
    let Some(card) = board.card(&task.id) else {
        return Ok(1);
    };
    let verify = card
        .permissions
        .map_or(&[][..], |permissions| &permissions.verify);
    if args.json {
        write_stdout(&render_json_pretty(&Shown {
            listed: Listed::new(card),
            status: task.status,
            verify,
            body: &task.body,
        })?);
    } else {
        write_stdout(&sanitise(&render(card, &read.base)));
    }
    Ok(0)
}

fn render(card: &Card<'_>, base: &Base) -> String {
    let task = card.task;
    let mut text = format!("{}  {}\n", task.id, task.title);
    let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<11} {value}\n"));
    row("state", card.column.word().to_owned());
    if let Some(why) = &card.why {
        row("why", why.to_string());
    }
    row("file", task.file.clone());
    row("priority", task.priority.to_string());
    if let Some(parent) = &task.parent {
        row("parent", parent.id.to_string());
    }
    if !task.depends_on.is_empty() {
        let ids: Vec<String> = task.depends_on.iter().map(|link| link.id.to_string()).collect();
        row("depends on", ids.join(", "));
    }
    if !task.touches.is_empty() {
        row("touches", task.touches.join(", "));
    }
    let nothing = Permissions::default();
    let effective = card.permissions.unwrap_or(&nothing);
    for (name, value) in permissions(effective) {
        row(name, value);
    }
    if *effective != task.permissions {
        let reason = match base {
            Base::Missing => "does not count without a commit",
            Base::Commit(_) => "does not count until it is committed",
        };
        let own: Vec<String> = permissions(&task.permissions)
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let own = match own.is_empty() {
            true => "none of these".to_owned(),
            false => own.join("; "),
        };
        row("uncommitted", format!("{own} ({reason})"));
    }
    if let Some(claim) = card.claim.filter(|claim| claim.is_held()) {
        let agent = claim
            .agent
            .as_ref()
            .map_or_else(String::new, |agent| format!(" by {agent}"));
        let run = ralph_run::short_run_id(&claim.run);
        row("run", format!("{run}{agent}, attempt {}", claim.attempt));
    }
    for failure in card.claim.iter().flat_map(|claim| &claim.failures) {
        if let Some(evidence) = &failure.evidence {
            let run = ralph_run::short_run_id(&failure.run);
            text.push_str(&format!("\nAttempt {} (run {run}) failed:\n", failure.attempt));
            for line in evidence.lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    if !task.body.is_empty() {
        text.push_str(&format!("\n{}\n", task.body));
    }
    text
}

fn permissions(permissions: &Permissions) -> Vec<(&'static str, String)> {
    let Permissions {
        verify,
        mode,
        limits,
        agent,
    } = permissions;
    let limits = [
        limits.cost.map(|cost| format!("{cost}")),
        limits
            .iterations
            .map(|iterations| format!("{iterations} iterations")),
        limits.runtime.map(|runtime| show_duration(&runtime)),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let rows = [
        ("verify", verify.join("; ")),
        ("mode", mode.clone().unwrap_or_default()),
        ("limits", limits.join(", ")),
        ("agent", agent.clone().unwrap_or_default()),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}
