//! Errors, limits, slow and broken streams.

use super::table::Scenario;
use super::turn::Turn;
use crate::fake_model::message::{Answer, ApiError, Block, Incident, Message};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("err400", |_| {
        error(
            400,
            "invalid_request_error",
            "messages: fake invalid request for tests",
        )
        .into()
    }),
    ("err401", |_| {
        error(401, "authentication_error", "invalid x-api-key").into()
    }),
    ("err403", |_| {
        error(
            403,
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
        )
        .into()
    }),
    ("err404", |_| {
        error(404, "not_found_error", "model: fake-model").into()
    }),
    ("err413", |_| {
        error(
            413,
            "request_too_large",
            "Request exceeds the maximum allowed number of bytes.",
        )
        .into()
    }),
    ("err400long", |_| {
        error(
            400,
            "invalid_request_error",
            "prompt is too long: 219898 tokens > 200000 maximum",
        )
        .into()
    }),
    ("err400credit", |_| {
        error(
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API.",
        )
        .into()
    }),
    ("err429", |_| rate_limited().into()),
    ("err500", |_| {
        error(500, "api_error", "Internal server error").into()
    }),
    ("err529", |_| overloaded().into()),
    ("errhtml", |_| bad_gateway().into()),
    ("flaky", flaky),
    ("overload_primary", |turn| {
        if turn.model().contains("opus") {
            return overloaded().into();
        }
        [Block::text(format!("Answered by {}.", turn.model()))].into()
    }),
    ("ratelimit_unified", rate_limit_headers),
    ("ratelimit_rejected", rate_limit_rejected),
    ("slow", |turn| {
        Message {
            pace: turn.seconds_or(0.25),
            ..long_text()
        }
        .into()
    }),
    ("slowfirst", |turn| {
        Message {
            delay: turn.seconds_or(8.0),
            ..Message::new([Block::text("First byte came late.")])
        }
        .into()
    }),
    ("gate", |turn| {
        interrupted(Incident::Gate(turn.argument_or("gate").to_owned())).into()
    }),
    ("stall", |_| {
        interrupted(Incident::Gate("stall".to_owned())).into()
    }),
    ("midstreamerr", |turn| first_attempt(turn, Incident::Error)),
    ("midstreamdrop", |turn| first_attempt(turn, Incident::Cut)),
    ("midstreamcut", |turn| first_attempt(turn, Incident::LateCut)),
    ("endsearly", |turn| first_attempt(turn, Incident::End)),
    ("alwaysendsearly", |_| interrupted(Incident::End).into()),
    ("alwayscut", |_| interrupted(Incident::LateCut).into()),
];

fn error(status: u16, kind: &'static str, message: &'static str) -> ApiError {
    ApiError {
        status,
        kind,
        message,
        headers: Vec::new(),
        page: None,
    }
}

fn overloaded() -> ApiError {
    error(529, "overloaded_error", "Overloaded")
}

fn rate_limited() -> ApiError {
    let message = "This request would exceed your account's rate limit. Please try again later.";
    ApiError {
        headers: vec![("retry-after", "1".to_owned())],
        ..error(429, "rate_limit_error", message)
    }
}

fn bad_gateway() -> ApiError {
    ApiError {
        page: Some("<html><body>502 Bad Gateway</body></html>"),
        ..error(502, "", "")
    }
}

/// `529x2`: twice 529, then success.
fn flaky(turn: &Turn<'_>) -> Answer {
    let (code, failures) = turn.argument_or("529x2").split_once('x').unwrap_or(("529", "2"));
    if turn.attempt > failures.parse().unwrap_or(2) {
        return [Block::text(format!("Recovered after {failures} x {code}."))].into();
    }
    match code {
        "429" => rate_limited().into(),
        "500" => error(500, "api_error", "Internal server error").into(),
        "502" => bad_gateway().into(),
        _ => overloaded().into(),
    }
}

fn long_text() -> Message {
    let text = "This text arrives slowly, one small piece after another, so that live output can be seen.";
    Message {
        delta_chars: 8,
        ..Message::new([Block::text(text)])
    }
}

fn interrupted(incident: Incident) -> Message {
    Message {
        incident: Some((3, incident)),
        ..long_text()
    }
}

fn first_attempt(turn: &Turn<'_>, incident: Incident) -> Answer {
    if turn.attempt == 1 {
        interrupted(incident).into()
    } else {
        [Block::text("The second attempt worked.")].into()
    }
}

fn in_one_hour() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now + Duration::from_secs(3600)).as_secs().to_string()
}

/// The headers that subscriptions get with every answer.
fn rate_limit_headers(turn: &Turn<'_>) -> Answer {
    let status = turn.argument_or("allowed_warning");
    let mut headers = vec![
        ("anthropic-ratelimit-unified-status", status.to_owned()),
        ("anthropic-ratelimit-unified-5h-status", status.to_owned()),
        ("anthropic-ratelimit-unified-5h-reset", in_one_hour()),
        ("anthropic-ratelimit-unified-7d-status", "allowed".to_owned()),
        ("anthropic-ratelimit-unified-7d-utilization", "0.40".to_owned()),
        ("anthropic-ratelimit-unified-7d-reset", in_one_hour()),
        (
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour".to_owned(),
        ),
        ("anthropic-ratelimit-unified-reset", in_one_hour()),
        (
            "anthropic-ratelimit-unified-overage-status",
            "rejected".to_owned(),
        ),
        (
            "anthropic-ratelimit-unified-overage-disabled-reason",
            "org_level_disabled".to_owned(),
        ),
    ];
    if status == "allowed" {
        headers.push(("anthropic-ratelimit-unified-5h-utilization", "0.12".to_owned()));
    } else {
        headers.push(("anthropic-ratelimit-unified-5h-utilization", "0.91".to_owned()));
        headers.push((
            "anthropic-ratelimit-unified-5h-surpassed-threshold",
            "0.9".to_owned(),
        ));
    }
    Message {
        headers,
        ..Message::new([Block::text("Answer with unified rate limit headers.")])
    }
    .into()
}

fn rate_limit_rejected(_turn: &Turn<'_>) -> Answer {
    let headers = vec![
        ("retry-after", "3600".to_owned()),
        ("x-should-retry", "false".to_owned()),
        ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
        ("anthropic-ratelimit-unified-5h-status", "rejected".to_owned()),
        ("anthropic-ratelimit-unified-5h-utilization", "1.0".to_owned()),
        ("anthropic-ratelimit-unified-5h-reset", in_one_hour()),
        (
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour".to_owned(),
        ),
        ("anthropic-ratelimit-unified-reset", in_one_hour()),
    ];
    ApiError {
        headers,
        ..rate_limited()
    }
    .into()
}
