//! Notifications of `codex app-server` about errors, the thread's state and rate limits, as events.

use json_lines::Value;

use super::errors::turn_error;
use crate::backends::codex::mapper::reconnecting;
use crate::emitter::Emitter;
use crate::event::{Body, RateLimit, RateLimitStatus, Retry, Status, StatusChanged};

/// An `error` ends nothing: it announces a retry, or comes before a failed turn.
pub(super) fn map_error(params: &Value, events: &mut Emitter) {
    let error = params.get("error").unwrap_or(&Value::Null);
    let info = turn_error(error);
    if params.flag("willRetry") != Some(true) {
        return events.error(info);
    }
    let counts = reconnecting(error.text("message").unwrap_or_default());
    events.emit(Body::RetryScheduled(Box::new(Retry {
        attempt: counts.map(|(attempt, _, _)| attempt),
        max_attempts: counts.map(|(_, max_attempts, _)| max_attempts),
        delay_ms: None,
        error: info,
    })));
}

pub(super) fn map_status(params: &Value, events: &mut Emitter) {
    let status = params.get("status").unwrap_or(&Value::Null);
    let status = match (status.text("type"), status.list("activeFlags").is_empty()) {
        (Some("active"), true) => Status::Running,
        (Some("active"), false) => Status::Waiting,
        // The end of the turn says more.
        _ => return events.framing("thread/status/changed"),
    };
    events.emit(Body::StatusChanged(StatusChanged { status }));
}

/// The fuller of the two windows; most accounts have none.
pub(super) fn map_rate_limit(params: &Value, events: &mut Emitter) {
    let limits = params.get("rateLimits").unwrap_or(&Value::Null);
    let window = |name| Some((name, limits.get(name).filter(|window| window.is_object())?));
    let used = |window: &Value| window.get("usedPercent").and_then(Value::as_f64);
    let windows = ["primary", "secondary"].into_iter().filter_map(window);
    let fullest = windows.max_by(|(_, one), (_, other)| {
        let (one, other) = (used(one).unwrap_or(0.0), used(other).unwrap_or(0.0));
        one.total_cmp(&other)
    });
    let Some((name, window)) = fullest else {
        return events.framing("account/rateLimits/updated");
    };
    events.emit(Body::RateLimit(Box::new(RateLimit {
        status: match limits.text("rateLimitReachedType") {
            Some(_) => RateLimitStatus::Rejected,
            None => RateLimitStatus::Allowed,
        },
        window: Some(name.to_owned()),
        used_percent: used(window),
        resets_at: window.count("resetsAt"),
    })));
}
