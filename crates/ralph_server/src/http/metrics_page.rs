//! `/metrics`: figures for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use ralph_store::{CostGroup, CostQuery, RunCounts, RunSummary, StoreError};
use tokio::time::timeout;

use crate::app::App;
use crate::metrics::{Counted, TOOL_STEPS_MS};

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How old figures about models may be before they are added up again.
const MAX_AGE: Duration = Duration::from_secs(30);
/// How long the index may take. What is known without it is shown in any case.
const INDEX_LIMIT: Duration = Duration::from_secs(5);

/// Gives figures for Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "metrics", tag = "server",
    responses((status = 200, description = "Figures.", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8")))]
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let mut page = Page::default();
    live_runs(&app, &mut page);
    tools(&app, &mut page);
    let clients = app.metrics.websocket_clients();
    page.family(
        "ralph_websocket_clients",
        "gauge",
        "Clients that are connected by WebSocket.",
    );
    page.sample("ralph_websocket_clients", &[], clients);
    page.family(
        "ralph_ingest_waiting_runs",
        "gauge",
        "Runs with something that is not in the index yet.",
    );
    page.sample("ralph_ingest_waiting_runs", &[], app.live.index_waiting() as u64);
    of_index(&app, &mut page).await;
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], page.text)
}

/// The figures of the index. Each part is asked for by itself and left out if it fails: adding up the usage of very many
/// messages can take too long while the index works.
async fn of_index(app: &Arc<App>, page: &mut Page) {
    let (counts, usage, health) = tokio::join!(
        in_time("runs and requests", app.store.counts()),
        in_time("usage", usage_of_models(app)),
        in_time("text index", async { Ok(app.store.health().await) }),
    );
    page.family("ralph_index_up", "gauge", "Whether the index gives figures.");
    page.sample("ralph_index_up", &[], u8::from(counts.is_some()));
    if let Some(counts) = counts {
        of_counts(&counts, page);
    }
    page.text.push_str(&usage.unwrap_or_default());
    if let Some(health) = health {
        page.family(
            "ralph_text_index_lag_records",
            "gauge",
            "Records that the text index lacks.",
        );
        page.sample("ralph_text_index_lag_records", &[], health.text_lag);
    }
}

async fn in_time<T>(part: &str, figures: impl Future<Output = Result<T, StoreError>>) -> Option<T> {
    match timeout(INDEX_LIMIT, figures).await {
        Ok(Ok(figures)) => Some(figures),
        Ok(Err(error)) => {
            tracing::warn!(%error, part, "the index gives no figures");
            None
        }
        Err(_) => {
            tracing::warn!(part, "the index takes too long to give figures");
            None
        }
    }
}

/// What models used. Adding that up reads all usage there is, so a scrape gets what was added up last, and figures that are
/// old are added up again behind it. Only the first scrape waits.
async fn usage_of_models(app: &Arc<App>) -> Result<String, StoreError> {
    let last = app.metrics.usage_of_models();
    let is_new = last.as_ref().is_some_and(|last| last.at.elapsed() < MAX_AGE);
    match last {
        Some(last) if is_new => Ok(last.text),
        Some(last) => {
            let app = app.clone();
            tokio::spawn(async move {
                if let Err(error) = add_up_usage(&app).await {
                    tracing::warn!(%error, "the index gives no figures about models");
                }
            });
            Ok(last.text)
        }
        None => add_up_usage(app).await,
    }
}

async fn add_up_usage(app: &App) -> Result<String, StoreError> {
    // Scrapes that come meanwhile get the figures of this one.
    let _only_one = app.metrics.adding_up().await;
    let last = app.metrics.usage_of_models();
    if let Some(last) = last.filter(|last| last.at.elapsed() < MAX_AGE) {
        return Ok(last.text);
    }
    let mut page = Page::default();
    usage(app, &mut page).await?;
    app.metrics.set_usage_of_models(Counted {
        at: Instant::now(),
        text: page.text.clone(),
    });
    Ok(page.text)
}

fn live_runs(app: &App, page: &mut Page) {
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    for run in app.live.board().all() {
        if !run.activity.has_ended() {
            *states.entry(state_of(&run)).or_default() += 1;
        }
    }
    page.family("ralph_runs", "gauge", "Runs that go on, by what they are doing.");
    for (state, count) in &states {
        page.sample("ralph_runs", &[("state", state)], *count);
    }
}

/// Runs, messages and requests, as the database counts them.
fn of_counts(counts: &RunCounts, page: &mut Page) {
    page.family(
        "ralph_runs_ended",
        "gauge",
        "Runs that have ended and are still kept, by why.",
    );
    for (reason, count) in &counts.ended {
        page.sample("ralph_runs_ended", &[("reason", reason)], *count);
    }
    page.family(
        "ralph_queued_messages",
        "gauge",
        "Messages that wait for the end of a turn.",
    );
    page.sample("ralph_queued_messages", &[], counts.queued_messages);
    page.family(
        "ralph_pending_approvals",
        "gauge",
        "Requests that wait for a person.",
    );
    page.sample("ralph_pending_approvals", &[], counts.pending_requests);
}

async fn usage(app: &App, page: &mut Page) -> Result<(), StoreError> {
    let query = CostQuery {
        group: CostGroup::Model,
        ..CostQuery::default()
    };
    let rows = app.store.costs(&query).await?;
    page.family(
        "ralph_tokens",
        "gauge",
        "Tokens of all runs, removed ones too, by model and kind.",
    );
    for row in &rows {
        let tokens = row.tokens;
        for (kind, count) in [
            ("input", tokens.input),
            ("cache_read", tokens.cache_read),
            ("cache_write", tokens.cache_write),
            ("output", tokens.output),
        ] {
            page.sample("ralph_tokens", &[("model", &row.key), ("kind", kind)], count);
        }
    }
    page.family(
        "ralph_cost_usd",
        "gauge",
        "What all runs have cost, removed ones too, by model.",
    );
    for row in &rows {
        page.sample("ralph_cost_usd", &[("model", &row.key)], row.cost.as_usd());
    }
    Ok(())
}

fn tools(app: &App, page: &mut Page) {
    const NAME: &str = "ralph_tool_duration_seconds";
    let latency = app.metrics.tool_latency();
    page.family(NAME, "histogram", "How long tools took, since the server began.");
    for (end, count) in TOOL_STEPS_MS.into_iter().zip(latency.steps) {
        let end = (end as f64 / 1000.0).to_string();
        page.sample(&format!("{NAME}_bucket"), &[("le", &end)], count);
    }
    page.sample(&format!("{NAME}_bucket"), &[("le", "+Inf")], latency.calls);
    page.sample(&format!("{NAME}_sum"), &[], latency.time_ms as f64 / 1000.0);
    page.sample(&format!("{NAME}_count"), &[], latency.calls);
}

fn state_of(run: &RunSummary) -> String {
    let activity = serde_json::to_value(&run.activity).unwrap_or_default();
    activity["state"].as_str().unwrap_or("unknown").to_owned()
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }
}

/// As the format wants it. Names of models come from agents.
fn escaped(value: &str) -> String {
    let shown: String = value
        .chars()
        .take(128)
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    shown.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_label_cannot_leave_its_quotes() {
        let mut page = Page::default();
        page.sample("x", &[("model", "a\"} 1\nralph_up{b=\"\\")], 2);
        assert_eq!(page.text, "x{model=\"a\\\"} 1 ralph_up{b=\\\"\\\\\"} 2\n");
    }
}
