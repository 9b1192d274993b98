//! The command lines, inputs and environments of the backends, and how a run of each ends. The agents are scripted.
#![cfg(all(
    unix,
    feature = "amp",
    feature = "codex",
    feature = "gemini",
    feature = "pi",
    feature = "qwen"
))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod amp_and_pi;
mod codex_app_server;
mod codex_exec;
mod codex_requests;
mod gemini;
mod qwen;
mod support;

#[test]
fn an_agent_that_does_not_decide_by_itself_is_not_asked_to() {
    fn refused(backend: impl agent_api::Backend + 'static) -> bool {
        let options = agent_api::RunOptions::new().permission_mode(agent_api::PermissionMode::Auto);
        let request = agent_api::RunRequest::new("Go.").options(options);
        matches!(
            support::preview(backend, request),
            Err(agent_api::Error::UnsupportedCapability { capability, .. })
                if capability == agent_api::capability::CONFIG_AUTO_PERMISSIONS
        )
    }
    use agent_api::backends::{acp::Acp, codex::Codex, gemini::Gemini, qwen::Qwen};
    assert!(refused(Codex::new()) && refused(Gemini::new()) && refused(Qwen::new()));
    assert!(refused(Acp::opencode()) && !refused(Acp::goose()));
}

#[test]
fn what_an_agent_reads_into_a_plain_prompt_is_noted_before_it_starts() {
    fn notes(backend: impl agent_api::Backend + 'static, options: agent_api::RunOptions) -> Vec<String> {
        let request = agent_api::RunRequest::new("/review @notes.txt").options(options);
        let launch = support::preview(backend, request).unwrap();
        launch.notes.into_iter().map(|(code, _)| code).collect()
    }
    use agent_api::backends::{acp::Acp, codex::Codex, gemini::Gemini, pi::Pi, qwen::Qwen};
    let options = agent_api::RunOptions::new;
    let both = ["command_expanded", "mentions_expanded"];
    assert_eq!(notes(Gemini::new(), options()), both);
    assert_eq!(notes(Qwen::new(), options()), both);
    assert_eq!(notes(Pi::new(), options()), both[..1]);
    assert_eq!(notes(Acp::opencode(), options()), both[..1]);
    assert!(notes(Codex::new(), options()).is_empty());
    let wanted = options().expansion(agent_client::Expansion::Commands);
    assert!(notes(Gemini::new(), wanted).is_empty());
}
