//! One honest end for every run, whatever the exit code says. The streams are played back through the harness: what
//! a backend adds to its mapping is a command line.

use std::ffi::OsString;
use std::time::Duration;

use agent_api::{
    AgentRegistry, Backend, BackendConfig, Body, Environment, Error, ErrorClass, Event, Finished,
    InstalledAgent, Launch, LaunchInput, Limit, Outcome, Profile, RunOptions, RunRequest, ToolStatus,
    backends,
};
use agent_process::SpawnSpec;
use test_support::fixtures::Fixture;

use crate::replay::Vendor;

/// Writes what an agent wrote, and ends as it did.
struct Playback {
    vendor: Vendor,
    profile: Profile,
    config: BackendConfig,
    args: Vec<OsString>,
}

impl Playback {
    fn of(vendor: Vendor, fixture: &Fixture) -> Self {
        let mut profile = match vendor {
            Vendor::Codex => backends::codex::profile(),
            Vendor::Gemini => backends::gemini::profile(),
            Vendor::Qwen => backends::qwen::profile(),
        };
        // A shell has no version to tell.
        profile.version_args = &[];
        let end = match fixture.capture.signal {
            Some(signal) => format!("kill -{signal} $$"),
            None => format!("exit {}", fixture.capture.code.unwrap_or_default()),
        };
        let script = format!(r#"if [ -e "$1" ]; then cat "$1"; fi; printf %s "$2" >&2; {end}"#);
        Self {
            vendor,
            profile,
            config: BackendConfig {
                program: Some("/bin/sh".into()),
                ..BackendConfig::default()
            },
            args: vec![
                "-c".into(),
                script.into(),
                "playback".into(),
                fixture.path.clone().into(),
                fixture.stderr.clone().into(),
            ],
        }
    }
}

impl Backend for Playback {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let mut spec = SpawnSpec::new(&found.program);
        spec.args.clone_from(&self.args);
        spec.env = request.options.environment.policy();
        Ok(Launch::new(spec, LaunchInput::Nothing, self.vendor.mapper()))
    }
}

async fn play(vendor: Vendor, name: &str) -> (Vec<Event>, Finished) {
    let fixture = vendor.fixture(name);
    let registry = AgentRegistry::new().with(Playback::of(vendor, &fixture)).unwrap();
    let mut options = RunOptions::new();
    options.environment.base = Environment::clear().base;
    let request = RunRequest::new("Go.").options(options);
    let run = registry.run(vendor.kind().as_str(), request).await.unwrap();
    let all = async {
        let mut handle = run;
        let mut events = Vec::new();
        while let Some(event) = handle.events.next().await {
            events.push(event);
        }
        (events, handle.completion.await.unwrap())
    };
    let (events, completed) = tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .expect("this hangs");
    let is_end = |event: &&Event| matches!(event.body, Body::Finished(_));
    assert_eq!(events.iter().filter(is_end).count(), 1, "{vendor:?}/{name}");
    assert!(events.last().as_ref().is_some_and(is_end), "{vendor:?}/{name}");
    (events, completed.finished)
}

#[tokio::test]
async fn a_failure_that_exits_with_zero_is_a_failure() {
    let (_, finished) = play(Vendor::Gemini, "midcut").await;
    assert_eq!((finished.outcome, finished.exit.code), (Outcome::Failed, Some(0)));
    assert_eq!(finished.error.unwrap().class, ErrorClass::Network);
    assert!(!finished.is_synthetic && finished.usage.is_partial);
}

#[tokio::test]
async fn an_exit_code_that_is_a_status_in_disguise_decides_nothing() {
    let (_, finished) = play(Vendor::Gemini, "err401").await;
    assert_eq!(
        (finished.outcome, finished.exit.code),
        (Outcome::Failed, Some(145))
    );
    let error = finished.error.unwrap();
    assert_eq!((error.class, error.http_status), (ErrorClass::Auth, Some(401)));
}

#[tokio::test]
async fn an_end_without_a_result_is_no_success() {
    for (vendor, name, outcome) in [
        (Vendor::Gemini, "kill_int", Outcome::NoResult),
        (Vendor::Gemini, "kill_term_group", Outcome::NoResult),
        (Vendor::Gemini, "err500", Outcome::Crashed),
        (Vendor::Codex, "kill_int", Outcome::Crashed),
        (Vendor::Codex, "kill_int_text", Outcome::Crashed),
        (Vendor::Codex, "kill_term", Outcome::Crashed),
        (Vendor::Qwen, "max_turns", Outcome::LimitReached(Limit::Turns)),
        (Vendor::Qwen, "err500", Outcome::Crashed),
    ] {
        let (events, finished) = play(vendor, name).await;
        assert_eq!(finished.outcome, outcome, "{vendor:?}/{name}");
        assert!(
            finished.is_synthetic && finished.usage.is_partial,
            "{vendor:?}/{name}"
        );
        let started = events
            .iter()
            .filter(|event| matches!(event.body, Body::ToolStarted(_)));
        let ended = events
            .iter()
            .filter(|event| matches!(event.body, Body::ToolFinished(_)));
        assert_eq!(
            started.count(),
            ended.count(),
            "{vendor:?}/{name}: a call is still open"
        );
    }
}

#[tokio::test]
async fn a_call_that_the_end_cut_off_is_cancelled() {
    let (events, _) = play(Vendor::Codex, "kill_term").await;
    let status = events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(tool.status),
        _ => None,
    });
    assert_eq!(status, Some(ToolStatus::Cancelled));
}

#[tokio::test]
async fn an_agent_that_does_not_start_says_why_on_stderr() {
    for (vendor, name, class, code) in [
        (Vendor::Codex, "no_git", ErrorClass::Trust, "not_trusted"),
        (
            Vendor::Codex,
            "no_prompt",
            ErrorClass::InvalidRequest,
            "no_prompt",
        ),
        (
            Vendor::Codex,
            "resume_unknown",
            ErrorClass::InvalidRequest,
            "unknown_session",
        ),
        (
            Vendor::Codex,
            "bad_flag",
            ErrorClass::InvalidRequest,
            "unknown_option",
        ),
        (Vendor::Gemini, "untrusted", ErrorClass::Trust, "not_trusted"),
        (Vendor::Gemini, "no_key", ErrorClass::Auth, "not_logged_in"),
    ] {
        let (_, finished) = play(vendor, name).await;
        assert_eq!(finished.outcome, Outcome::Failed, "{vendor:?}/{name}");
        let error = finished.error.unwrap();
        assert_eq!(
            (error.class, error.code.as_str()),
            (class, code),
            "{vendor:?}/{name}: {}",
            error.message
        );
    }
}

#[tokio::test]
async fn runs_that_went_well_succeed_with_their_text_and_tokens() {
    for vendor in Vendor::ALL {
        let (_, finished) = play(vendor, "text").await;
        assert_eq!(finished.outcome, Outcome::Succeeded, "{vendor:?}");
        assert!(!finished.is_synthetic && !finished.usage.is_partial, "{vendor:?}");
        assert!(finished.usage.tokens.total() > 1_200, "{vendor:?}");
        assert_eq!((finished.turns, finished.line_errors), (1, 0), "{vendor:?}");
    }
}
