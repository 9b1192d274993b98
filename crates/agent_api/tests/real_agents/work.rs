//! Answers, commands, edits, tokens and sessions.

use agent_api::{Body, Event, Outcome, SessionChoice, Tokens, ToolFinished, ToolKind, capability};
use libtest_mimic::Trial;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::{ShellGate, processes_of};

use crate::doors::Door;
use crate::stage::{Stage, finish, trial, until};

pub(crate) fn trials(door: &Door) -> Vec<Trial> {
    let mut trials = vec![
        trial(door, "an_answer_is_text_and_its_tokens", 1, answer),
        trial(
            door,
            "text_and_tools_are_told_while_the_agent_works",
            1,
            live_events,
        ),
        trial(
            door,
            "a_failed_command_is_told_with_its_output",
            1,
            failed_command,
        ),
        trial(door, "an_edit_names_the_changed_file", 1, edit),
    ];
    if door.resumes {
        trials.push(trial(door, "a_resumed_session_goes_on", 1, resume));
    }
    trials
}

async fn answer(stage: &Stage) {
    let mut options = stage.options();
    let backend = stage.registry.backend(stage.door.agent.name()).unwrap();
    let wanted = capability::SESSION_PRESET_ID;
    let lacks = backend.lacks(&stage.request("SCENARIO:plain", options.clone()));
    let takes_id = backend.profile().has(wanted) && !lacks.contains(&wanted);
    let id = takes_id.then(agent_api::new_session_id);
    options.session = id.clone().map(SessionChoice::NewWithId);
    let (events, completed) = finish(stage.start("SCENARIO:plain", options).await).await;
    if id.is_some() {
        assert_eq!(completed.session_id, id);
    }
    assert_eq!(
        completed.finished.outcome,
        Outcome::Succeeded,
        "{:?}",
        completed.finished
    );
    assert_eq!(
        completed.final_text.as_deref(),
        Some("Hello from the fake model. This is a plain answer.")
    );
    assert!(completed.session_id.is_some());
    assert_eq!(completed.finished.line_errors, 0);
    let unknown = events.iter().find(|event| matches!(event.body, Body::Unknown(_)));
    assert_eq!(unknown, None);
    // Qwen asks once more, for its memory.
    assert_tokens(stage, &completed.finished.usage.tokens, stage.calls("plain"));
    assert!(!completed.finished.usage.is_partial);
}

/// The tokens of that many calls of the model.
fn assert_tokens(stage: &Stage, tokens: &Tokens, calls: u64) {
    let (input, cache_read) = if stage.door.has_cached_tokens {
        (200, 1_000)
    } else {
        (1_200, 0)
    };
    let truth = Tokens {
        input: input * calls,
        cache_read: cache_read * calls,
        cache_write: 0,
        output: stage.door.output_tokens * calls,
        reasoning: stage.door.reasoning_tokens * calls,
    };
    assert_eq!(*tokens, truth);
}

async fn live_events(stage: &Stage) {
    let mut gate = ShellGate::create(&stage.workspace.path()).unwrap();
    let prompt = scripted_prompt(&[
        vec![Block::text("First words."), Block::shell(&gate.command())],
        vec![Block::text("Done.")],
    ]);
    let mut handle = stage.start(&prompt, stage.options()).await;
    let mut seen = (false, false);
    until(&mut handle.events, |event| {
        match &event.body {
            Body::Delta(_) | Body::TextBlock(_) => seen.0 |= text_of(event).contains("First"),
            Body::ToolStarted(tool) => seen.1 |= tool.kind == ToolKind::Execute,
            _ => {}
        }
        (seen == (true, true)).then_some(())
    })
    .await;
    gate.started().await.unwrap();
    assert!(!processes_of(stage.workspace.root()).is_empty(), "it still works");
    gate.release().await.unwrap();
    let (events, completed) = finish(handle).await;
    assert_eq!(
        completed.finished.outcome,
        Outcome::Succeeded,
        "{:?}",
        completed.finished
    );
    assert_eq!(completed.final_text.as_deref(), Some("Done."));
    let tool = finished_tool(&events);
    if stage.door.has_output {
        assert!(tool.output.contains("released"), "{tool:?}");
    }
    let usage = completed.finished.usage;
    assert_eq!(usage.is_partial, !stage.door.has_all_tokens, "{usage:?}");
    if stage.door.has_all_tokens {
        assert_tokens(stage, &usage.tokens, stage.calls("generic"));
    }
}

fn text_of(event: &Event) -> &str {
    match &event.body {
        Body::Delta(delta) => &delta.text,
        Body::TextBlock(block) => &block.text,
        _ => "",
    }
}

fn finished_tool(events: &[Event]) -> &ToolFinished {
    let tool = events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(&**tool),
        _ => None,
    });
    tool.unwrap()
}

async fn failed_command(stage: &Stage) {
    let prompt = scripted_prompt(&[
        vec![Block::shell("echo this is bad >&2; exit 3")],
        vec![Block::text("Done.")],
    ]);
    let (events, completed) = stage.play(&prompt).await;
    assert_eq!(
        completed.finished.outcome,
        Outcome::Succeeded,
        "the agent goes on: {:?}",
        completed.finished
    );
    let tool = finished_tool(&events);
    if stage.door.has_output {
        assert!(tool.output.contains("this is bad"), "{tool:?}");
    }
    let exit_code = stage.door.has_exit_code.then_some(3);
    assert_eq!(tool.exit_code, exit_code, "{tool:?}");
}

async fn edit(stage: &Stage) {
    let prompt = scripted_prompt(&[
        vec![Block::write("notes.txt", "alpha\nbeta\n")],
        vec![Block::edit("notes.txt", "beta", "gamma")],
        vec![Block::text("Done.")],
    ]);
    let (events, completed) = stage.play(&prompt).await;
    assert_eq!(
        completed.finished.outcome,
        Outcome::Succeeded,
        "{:?}",
        completed.finished
    );
    let written = std::fs::read_to_string(stage.workspace.path().join("notes.txt")).unwrap();
    assert_eq!(written, "alpha\ngamma\n");
    let mut changes = events.iter().filter_map(|event| match &event.body {
        Body::ToolFinished(tool) => tool.changes.first(),
        _ => None,
    });
    if stage.door.has_changes {
        let last = changes.next_back().unwrap();
        assert!(last.path.ends_with("notes.txt"), "{last:?}");
        let diff = last.diff.as_deref().unwrap_or_default();
        assert_eq!(
            diff.contains("-beta") && diff.contains("+gamma"),
            stage.door.has_diff,
            "{last:?}"
        );
    }
}

async fn resume(stage: &Stage) {
    let (_, first) = stage.play("SCENARIO:chat number one").await;
    let session_id = first.session_id.unwrap();
    let mut options = stage.options();
    options.session = Some(SessionChoice::Resume(session_id.clone()));
    let (_, second) = finish(stage.start("SCENARIO:chat number two", options).await).await;
    assert_eq!(
        second.finished.outcome,
        Outcome::Succeeded,
        "{:?}",
        second.finished
    );
    assert_eq!(second.session_id.as_deref(), Some(session_id.as_str()));
    let asked = stage
        .model
        .requests()
        .into_iter()
        .rfind(|request| request.label.starts_with("chat["));
    let asked = asked.unwrap().body.to_string();
    assert!(
        asked.contains("number one") && asked.contains("number two"),
        "{asked}"
    );
    let usage = second.finished.usage;
    assert!(
        usage.may_include_earlier_runs || usage.tokens.input + usage.tokens.cache_read == 1_200,
        "{usage:?}"
    );
}
