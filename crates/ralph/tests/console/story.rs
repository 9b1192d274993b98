//! A run in which nearly everything happens.

use agent_api::{
    Body, Cost, CostSource, Denial, DiscardReason, ErrorClass, ErrorInfo, ExitInfo, ItemDiscarded, ItemId,
    MicroUsd, Notice, Part, PermissionRequested, Piece, PlanEntry, PlanStatus, PlanUpdated, Position,
    Question, QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RequestId, Retry, RunUsage,
    SessionStarted, Severity, Task, TaskState, ThinkingBlock, Tokens, ToolKind, ToolStatus, Usage,
    UsageScope,
};
use ralph_run::{
    CommandReceived, EndReason, IterationOutcome, RunBody, SessionForked, VerifyFinished, VerifyStarted,
    Warned, WarningKind,
};

use crate::stage::{Stage, delta, piece, text, tool, tool_finished};

/// Everything happens on this stage, with a moment after each thing.
pub(crate) fn play(stage: &mut Stage) {
    stage.begin(50);
    first_iteration(stage);
    stage.begin_iteration(2);
    second_iteration(stage);
    stage.end(EndReason::Completed, None);
}

fn say(stage: &mut Stage, item: &str, pieces: &[&str]) {
    for piece in pieces {
        stage.agent(delta(item, Part::Text, piece));
        stage.tick(40);
    }
    stage.agent(text(item, &pieces.concat()));
    stage.tick(40);
}

fn first_iteration(stage: &mut Stage) {
    stage.tick(100);
    stage.agent(Body::SessionStarted(Box::new(SessionStarted {
        session_id: Some("10f6d1c2-0000-4000-8000-000000000001".to_owned()),
        model: Some("claude-opus-5-5".to_owned()),
        ..SessionStarted::default()
    })));
    stage.agent(delta("think", Part::Thinking, "The file first, "));
    stage.tick(100);
    stage.agent(delta("think", Part::Thinking, "then the tests."));
    stage.agent(Body::ThinkingBlock(ThinkingBlock {
        item: ItemId::new("think"),
        text: "The file first, then the tests.".to_owned(),
        piece: Piece::WHOLE,
        is_redacted: false,
    }));
    say(
        stage,
        "one",
        &[
            "I'll start by ",
            "reading the file",
            ".\n\nIt has ",
            "two parts:\n- é\n",
            "- 漢字\n",
        ],
    );
    stage.agent(tool("read", "Read", ToolKind::Read, "/project/src/main.rs"));
    stage.tick(100);
    stage.agent(tool_finished(
        "read",
        ToolStatus::Completed,
        "fn main() {\n    todo();\n}\n",
    ));
    stage.agent(Body::PlanUpdated(PlanUpdated {
        item: None,
        entries: [
            ("Read", PlanStatus::Completed),
            ("Repair", PlanStatus::InProgress),
        ]
        .map(|(text, status)| PlanEntry {
            text: text.to_owned(),
            status,
        })
        .into(),
    }));
    stage.agent(delta("broken", Part::Text, "This answer will br"));
    stage.agent(Body::ItemDiscarded(ItemDiscarded {
        item: ItemId::new("broken"),
        reason: DiscardReason::Retry,
    }));
    let mut error = ErrorInfo::new(ErrorClass::Overloaded, "overloaded_error", "");
    error.http_status = Some(529);
    let mut retry = Retry::new(error);
    (retry.attempt, retry.max_attempts, retry.delay_ms) = (Some(1), Some(10), Some(2_500));
    stage.agent(Body::RetryScheduled(Box::new(retry)));
    stage.tick(100);
    stage.agent(tool("agent", "Task", ToolKind::Agent, "Look for callers"));
    stage.agent(delta("two", Part::Text, "While that runs, "));
    stage.subagent("agent", text("inner", "Two callers.\nBoth in main."));
    stage.subagent("agent", tool("grep", "Grep", ToolKind::Search, "main\\("));
    stage.tick(100);
    stage.agent(delta("two", Part::Text, "I go on."));
    stage.agent(text("two", "While that runs, I go on."));
    stage.subagent(
        "agent",
        tool_finished("grep", ToolStatus::Completed, "src/main.rs:1"),
    );
    stage.agent(tool_finished("agent", ToolStatus::Completed, "done"));
    usage(stage);
    stage.end_iteration(1, IterationOutcome::Continues);
    verify(stage, false);
}

fn second_iteration(stage: &mut Stage) {
    stage.tick(100);
    stage.run(RunBody::SessionForked(SessionForked {
        asked: "10f6".to_owned(),
        actual: "77ab".to_owned(),
    }));
    let mut asked = PermissionRequested::new(RequestId::new("ask-1"), "Bash", ToolKind::Execute);
    asked.subject = Some("rm -rf target".to_owned());
    asked.description = Some("Clean up".to_owned());
    stage.agent(Body::PermissionRequested(Box::new(asked)));
    stage.tick(100);
    stage.agent(Body::PermissionDenied(Box::new(Denial {
        item: None,
        tool: "Bash".to_owned(),
        reason: Some("not here".to_owned()),
    })));
    stage.agent(Body::QuestionAsked(Box::new(QuestionAsked {
        request: RequestId::new("ask-2"),
        item: None,
        questions: vec![Question {
            text: "Which one?".to_owned(),
            header: None,
            options: [("Red", Some("Warm")), ("Blue", None)]
                .map(|(label, description)| QuestionOption {
                    label: label.to_owned(),
                    description: description.map(str::to_owned),
                })
                .into(),
            is_multiple: false,
        }],
    })));
    stage.run(RunBody::CommandReceived(Box::new(CommandReceived {
        command_id: "c1".to_owned(),
        message_id: Some("m1".to_owned()),
        command: "send".to_owned(),
        text: Some("Take the blue one".to_owned()),
        ..CommandReceived::default()
    })));
    for (severity, code, message) in [
        (Severity::Info, "compacted", "the conversation was shortened"),
        (Severity::Warning, "stderr", "(node:1) Warning: old API"),
        (Severity::Warning, "hook", "a hook failed"),
        (Severity::Debug, "noise", "nobody sees this"),
    ] {
        stage.agent(Body::Notice(Box::new(Notice::new(severity, code, message))));
    }
    let mut limit = RateLimit::new(RateLimitStatus::Warning);
    limit.window = Some("five_hour".to_owned());
    limit.used_percent = Some(91.4);
    stage.agent(Body::RateLimit(Box::new(limit)));
    let mut task = Task::new("t1", TaskState::Completed);
    task.title = Some("watch the tests".to_owned());
    stage.agent(Body::TaskUpdated(Box::new(task)));
    stage.agent(tool(
        "bash",
        "Bash",
        ToolKind::Execute,
        "cargo test --workspace\u{1b}]0;pwned\u{7} --all",
    ));
    stage.tick(100);
    stage.agent(tool_finished(
        "bash",
        ToolStatus::Failed,
        "error[E0308]: mismatched types\n  --> src/main.rs:2:5",
    ));
    let mut error = ErrorInfo::new(ErrorClass::Vendor, "server_error", "Internal\nserver error");
    error.http_status = Some(500);
    stage.agent(Body::Error(Box::new(error)));
    let mut unreadable = ErrorInfo::new(ErrorClass::Protocol, "not_json", "line 7");
    unreadable.position = Some(Position {
        line: 7,
        column: 1,
        offset: 0,
        length: 3,
    });
    stage.agent(Body::Error(Box::new(unreadable)));
    stage.agent(Body::Error(Box::new(ErrorInfo::new(
        ErrorClass::Protocol,
        "read_failed",
        "the agent's output could not be read any further",
    ))));
    stage.agent(piece(
        "three",
        "All do",
        Piece {
            index: 0,
            is_last: false,
        },
    ));
    stage.agent(piece(
        "three",
        "ne.\n\nLOOP_COMPLETE\n",
        Piece {
            index: 1,
            is_last: true,
        },
    ));
    usage(stage);
    stage.run(RunBody::Warned(Warned::new(
        WarningKind::CostNearLimit,
        "80% of the budget is used",
    )));
    verify(stage, true);
    stage.end_iteration(2, IterationOutcome::Completed);
    stage.run(RunBody::Warned(Warned::new(
        WarningKind::UnreadableLines,
        "1 line of the agent's output could not be read; see raw/2.ndjson",
    )));
}

fn usage(stage: &mut Stage) {
    let tokens = Tokens {
        input: 200,
        cache_read: 1_000,
        cache_write: 0,
        output: 34,
        reasoning: 0,
    };
    let cost = Some(Cost {
        micro_usd: MicroUsd::new(9_600),
        source: CostSource::Reported,
    });
    stage.agent(Body::Usage(Box::new(Usage {
        scope: UsageScope::Turn,
        tokens,
        cost,
        model: None,
        context: Some(agent_api::ContextUse {
            used: 68_000,
            size: Some(200_000),
        }),
        run: RunUsage {
            tokens,
            cost,
            ..RunUsage::default()
        },
    })));
    stage.tick(100);
}

fn verify(stage: &mut Stage, is_ok: bool) {
    let command = "cargo test".to_owned();
    stage.run(RunBody::VerifyStarted(VerifyStarted {
        command: command.clone(),
    }));
    stage.tick(100);
    stage.run(RunBody::VerifyFinished(VerifyFinished {
        command,
        is_ok,
        exit: ExitInfo {
            code: Some(if is_ok { 0 } else { 101 }),
            ..ExitInfo::default()
        },
        output: "running 1 test\n\u{1b}[31mtest it ... FAILED\u{1b}[0m\n".to_owned(),
        log: None,
        duration_ms: 1_500,
        timed_out_after_ms: None,
    }));
}
