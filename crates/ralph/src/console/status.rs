//! `render_status()`: the line at the bottom of the terminal; `render_heartbeat()`: the same for a pipe, once a minute.

use jiff::Timestamp;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::short_run_id;
use run_view::{
    Activity, context_share, cost_of_limit, elapsed_seconds, format_seconds, iteration_of_limit, one_line,
    width,
};

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// A subject that would be shorter is left out.
const MIN_SUBJECT_COLUMNS: usize = 8;

/// Where the user types messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typing {
    /// In the line below the status line.
    Here,
    /// In another terminal, with `ralph send`.
    Elsewhere,
}

/// `⠋ iteration 2/50 · 1m 23s · $0.12 of $10.00 · context 34% · Bash 12s: cargo test`, at most `columns` wide. Where
/// that is too wide, what the run is doing counts more than the figures.
pub(super) fn render_status(run: &RunModel, now: Timestamp, columns: usize, typing: Typing) -> String {
    let elapsed = elapsed_seconds(run, now);
    let activity = activity(run, now, typing);
    // One step per second: faster ones cost power and say nothing more.
    let frame = usize::try_from(elapsed.unwrap_or(0)).unwrap_or(0) % SPINNER.len();
    let (iteration, cost) = (iteration_of_limit(run), cost_of_limit(run));
    let short_iteration = iteration
        .as_deref()
        .map(|text| text.trim_start_matches("iteration "));
    let short_cost = cost.as_deref().and_then(|text| text.split(" of ").next());
    let (context, clock) = (context_share(run), elapsed.map(format_seconds));
    let (iteration, cost, context) = (iteration.as_deref(), cost.as_deref(), context.as_deref());
    let subject_columns = activity.subject.as_ref().map_or(0, |_| MIN_SUBJECT_COLUMNS + 2);
    let mut status = String::new();
    for figures in [
        [iteration, clock.as_deref(), cost, context],
        [short_iteration, clock.as_deref(), cost, context],
        [short_iteration, clock.as_deref(), short_cost, context],
        [short_iteration, clock.as_deref(), short_cost, None],
        [None, clock.as_deref(), None, None],
    ] {
        let parts = figures.into_iter().flatten().chain([activity.head.as_str()]);
        status = format!("{} {}", SPINNER[frame], parts.collect::<Vec<&str>>().join(" · "));
        if width(&status) + subject_columns <= columns {
            break;
        }
    }
    if let Some(subject) = activity.subject {
        let room = columns.saturating_sub(width(&status) + 2);
        if room >= MIN_SUBJECT_COLUMNS {
            status.push_str(": ");
            status.push_str(&one_line(&subject, room));
        }
    }
    one_line(&status, columns)
}

/// `still running: iteration 2, 3m 00s, Bash 2m 10s: cargo test`.
pub(super) fn render_heartbeat(run: &RunModel, now: Timestamp, columns: usize) -> String {
    let activity = activity(run, now, Typing::Elsewhere);
    let parts = iteration_of_limit(run)
        .into_iter()
        .chain(elapsed_seconds(run, now).map(format_seconds))
        .chain([activity.head]);
    let mut text = format!("still running: {}", parts.collect::<Vec<String>>().join(", "));
    if let Some(subject) = activity.subject {
        text.push_str(": ");
        text.push_str(&subject);
    }
    one_line(&text, columns)
}

/// What the run is doing, with what the user can do where that is not obvious.
fn activity(run: &RunModel, now: Timestamp, typing: Typing) -> Activity {
    let mut activity = Activity::of(run, now);
    let waits_for_message = matches!(
        run.state(),
        RunState::Waiting {
            what: WaitingFor::Message
        }
    );
    match typing {
        _ if !waits_for_message => {}
        Typing::Here => activity.head = "type a message".to_owned(),
        Typing::Elsewhere => {
            let id = run.started().map_or("", |started| started.run_id.as_str());
            activity.subject = Some(format!("ralph send {} TEXT", short_run_id(id)));
        }
    }
    activity
}
