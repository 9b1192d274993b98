//! The screen of every tool and every state, at three widths.

use agent_api::{
    Body, ChangeKind, ContextUse, ErrorClass, ErrorInfo, FileChange, ItemId, Json, Part, PermissionRequested,
    PlanEntry, PlanProposed, PlanStatus, PlanUpdated, Question, QuestionAsked, RequestId, Retry, RunUsage,
    Tokens, ToolFinished, ToolKind, ToolStarted, ToolStatus, Usage, UsageScope,
};
use jiff::{SignedDuration, Timestamp};
use ralph::console::{Mode, Options};
use ralph_run::{
    BudgetAwaited, CooldownCause, CooldownStarted, EndReason, LimitKind, MessageAwaited, RunBody,
    StopStarted, VerifyFinished, VerifyStarted,
};

use crate::screen::{Screen, terminal};
use crate::stage::{Stage, delta, text, tool, tool_finished};

type Case = (&'static str, fn(&mut Stage));

const CASES: &[Case] = &[
    ("starting", |_| {}),
    ("a command runs", |stage| {
        stage.agent(tool(
            "1",
            "Bash",
            ToolKind::Execute,
            "cargo test --workspace --all-features --no-fail-fast",
        ));
        stage.tick(72_000);
    }),
    ("a command succeeded", |stage| {
        bash(stage, "cargo test", ToolStatus::Completed, "ok", None);
    }),
    ("a command failed", |stage| {
        let output = "Exit code 101\n   Compiling app v0.1.0\nerror[E0308]: mismatched types, expected `u64`, found `&str`\n";
        bash(
            stage,
            "cargo test --workspace",
            ToolStatus::Failed,
            output,
            Some(101),
        );
    }),
    ("a long command failed", |stage| {
        stage.agent(tool("1", "Bash", ToolKind::Execute, "make all"));
        stage.tick(83_000);
        stage.agent(finished(
            "1",
            ToolStatus::Failed,
            "make: *** No rule to make target",
            Some(2),
        ));
    }),
    ("a command was denied", |stage| {
        bash(stage, "rm -rf /", ToolStatus::Denied, "", None);
    }),
    ("a command was cancelled", |stage| {
        bash(stage, "sleep 100", ToolStatus::Cancelled, "", None);
    }),
    ("a command continues in the background", |stage| {
        bash(stage, "npm start", ToolStatus::Background, "", None);
    }),
    ("a file was edited", |stage| {
        edit(stage, "Edit", ChangeKind::Modified, Some((3, 1)))
    }),
    ("a file was written", |stage| {
        edit(stage, "Write", ChangeKind::Added, Some((120, 0)))
    }),
    ("a file was edited, and its lines are not known", |stage| {
        edit(stage, "Edit", ChangeKind::Modified, None)
    }),
    ("a file was read", |stage| {
        other(
            stage,
            "Read",
            ToolKind::Read,
            "/project/src/main.rs",
            r#"{"file_path":"/project/src/main.rs","offset":1,"limit":20}"#,
        );
    }),
    ("a text was searched", |stage| {
        other(
            stage,
            "Grep",
            ToolKind::Search,
            "fn main",
            r#"{"pattern":"fn main","path":"/project/src"}"#,
        )
    }),
    ("a page was fetched", |stage| {
        other(
            stage,
            "WebFetch",
            ToolKind::Fetch,
            "https://example.org/a/rather/long/path/to/some/page.html",
            "{}",
        )
    }),
    ("the web was searched", |stage| {
        other(stage, "WebSearch", ToolKind::WebSearch, "rust vt100", "{}")
    }),
    ("a tool of a server", |stage| {
        let mut started = ToolStarted::new(ItemId::new("1"), "mcp__files__list", ToolKind::Mcp);
        started.mcp_server = Some("files".to_owned());
        started.input = Json::from_text(r#"{"deep":true}"#.to_owned()).ok();
        stage.agent(Body::ToolStarted(Box::new(started)));
        stage.tick(80);
        stage.agent(tool_finished("1", ToolStatus::Completed, ""));
    }),
    ("the to-do list", |stage| {
        let mut started = ToolStarted::new(ItemId::new("1"), "TodoWrite", ToolKind::Plan);
        started.input = Json::from_text("{}".to_owned()).ok();
        stage.agent(Body::ToolStarted(Box::new(started)));
        stage.agent(Body::PlanUpdated(PlanUpdated {
            item: Some(ItemId::new("1")),
            entries: vec![PlanEntry {
                text: "Repair the parser".to_owned(),
                status: PlanStatus::InProgress,
            }],
        }));
        stage.agent(tool_finished("1", ToolStatus::Completed, ""));
    }),
    ("a subagent", |stage| {
        stage.agent(tool("1", "Task", ToolKind::Agent, "Look for callers"));
        stage.subagent("1", tool("2", "Grep", ToolKind::Search, "main"));
        stage.tick(120);
        stage.subagent("1", tool_finished("2", ToolStatus::Completed, ""));
        stage.tick(4_000);
        stage.agent(tool_finished("1", ToolStatus::Completed, ""));
    }),
    ("parallel calls", |stage| {
        stage.agent(tool("1", "Bash", ToolKind::Execute, "cargo build"));
        stage.agent(tool("2", "Bash", ToolKind::Execute, "cargo clippy"));
        stage.tick(2_000);
        stage.agent(finished(
            "2",
            ToolStatus::Failed,
            "error: unused variable",
            Some(101),
        ));
        stage.tick(6_000);
        stage.agent(tool_finished("1", ToolStatus::Completed, ""));
    }),
    ("the model thinks", |stage| {
        stage.agent(delta("1", Part::Thinking, "Hm."));
        stage.tick(3_000);
    }),
    ("the model is silent in the middle of a line", |stage| {
        let text = "This stream stops in the middle of a **rather long** line that needs `more than one` row on most terminals";
        stage.agent(delta("1", Part::Text, text));
        stage.tick(34_000);
    }),
    ("the vendor is asked again", |stage| {
        let mut retry = Retry::new(ErrorInfo::new(
            ErrorClass::Overloaded,
            "overloaded_error",
            "Overloaded",
        ));
        (retry.attempt, retry.max_attempts, retry.delay_ms) = (Some(2), Some(10), Some(17_000));
        stage.agent(delta("1", Part::Thinking, "Hm."));
        stage.agent(Body::RetryScheduled(Box::new(retry)));
        stage.tick(3_000);
    }),
    ("the context is known", |stage| {
        stage.agent(Body::Usage(Box::new(Usage {
            scope: UsageScope::Step,
            tokens: Tokens::default(),
            cost: None,
            model: None,
            context: Some(ContextUse {
                used: 68_000,
                size: Some(200_000),
            }),
            run: RunUsage::default(),
        })));
        stage.tick(1_000);
    }),
    ("verifying", |stage| {
        stage.run(RunBody::VerifyStarted(VerifyStarted {
            command: "cargo test --workspace".to_owned(),
        }));
        stage.tick(65_000);
    }),
    ("a pause between iterations", |stage| {
        cooldown(stage, CooldownCause::Pause, 30)
    }),
    ("a pause after a failure", |stage| {
        cooldown(stage, CooldownCause::Backoff, 120)
    }),
    ("the usage limit", |stage| {
        cooldown(stage, CooldownCause::UsageLimit, 7_500)
    }),
    ("the cost limit", |stage| {
        let until = stage.now() + SignedDuration::from_secs(900);
        stage.run(RunBody::BudgetAwaited(BudgetAwaited {
            limit: LimitKind::Cost.into(),
            message: "used $10.02 of $10.00".to_owned(),
            limit_value: Some(10_000_000),
            until: Some(until),
        }));
        stage.tick(5_000);
    }),
    ("a permission", |stage| {
        let mut asked = PermissionRequested::new(RequestId::new("r"), "Bash", ToolKind::Execute);
        asked.subject = Some("rm -rf target".to_owned());
        stage.agent(Body::PermissionRequested(Box::new(asked)));
        stage.tick(61_000);
    }),
    ("a question", |stage| {
        stage.agent(Body::QuestionAsked(Box::new(QuestionAsked {
            request: RequestId::new("r"),
            item: None,
            questions: vec![Question {
                text: "Which one?".to_owned(),
                header: None,
                options: Vec::new(),
                is_multiple: false,
            }],
        })));
        stage.tick(1_000);
    }),
    ("a plan", |stage| {
        stage.agent(Body::PlanProposed(Box::new(PlanProposed {
            request: RequestId::new("r"),
            item: None,
            plan: "1. Read\n2. Repair".to_owned(),
        })));
        stage.tick(1_000);
    }),
    ("a message", |stage| {
        stage.run(RunBody::MessageAwaited(MessageAwaited::default()));
        stage.tick(1_000);
    }),
    ("stopping", |stage| {
        stage.run(RunBody::StopStarted(StopStarted {
            reason: EndReason::Stopped,
        }));
        stage.tick(1_000);
    }),
    ("completed", |stage| {
        edit(stage, "Edit", ChangeKind::Modified, Some((3, 1)));
        stage.run(RunBody::VerifyFinished(VerifyFinished {
            command: "cargo test".to_owned(),
            is_ok: true,
            exit: agent_api::ExitInfo::default(),
            output: String::new(),
            log: None,
            timed_out_after_ms: None,
            duration_ms: 1_500,
        }));
        stage.end(EndReason::Completed, None);
    }),
    ("ended at the cost limit", |stage| {
        stage.agent(text("1", "Half of it is done."));
        let message = "used $10.021234 of $10.00; raise `--max-cost` to continue";
        stage.end(EndReason::Limit(LimitKind::Cost), Some(message));
    }),
    ("failed", |stage| {
        stage.end(EndReason::AgentError, Some("the API failed"))
    }),
];

fn bash(stage: &mut Stage, command: &str, status: ToolStatus, output: &str, code: Option<i32>) {
    stage.agent(tool("1", "Bash", ToolKind::Execute, command));
    stage.tick(400);
    stage.agent(finished("1", status, output, code));
}

fn finished(item: &str, status: ToolStatus, output: &str, code: Option<i32>) -> Body {
    let mut finished = ToolFinished::new(ItemId::new(item), status);
    output.clone_into(&mut finished.output);
    finished.exit_code = code;
    Body::ToolFinished(Box::new(finished))
}

fn edit(stage: &mut Stage, name: &str, kind: ChangeKind, lines: Option<(u32, u32)>) {
    stage.agent(tool(
        "1",
        name,
        ToolKind::Edit,
        "/project/src/a_module/with_a_long_name/parser.rs",
    ));
    stage.tick(12);
    let mut finished = ToolFinished::new(ItemId::new("1"), ToolStatus::Completed);
    let mut change = FileChange::new("/project/src/a_module/with_a_long_name/parser.rs", kind, None);
    change.lines = lines;
    finished.changes.push(change);
    stage.agent(Body::ToolFinished(Box::new(finished)));
}

fn other(stage: &mut Stage, name: &str, kind: ToolKind, subject: &str, input: &str) {
    let mut started = ToolStarted::new(ItemId::new("1"), name, kind);
    started.subject = Some(subject.to_owned());
    started.input = Json::from_text(input.to_owned()).ok();
    stage.agent(Body::ToolStarted(Box::new(started)));
    stage.tick(80);
    stage.agent(tool_finished("1", ToolStatus::Completed, ""));
}

fn cooldown(stage: &mut Stage, cause: CooldownCause, seconds: i64) {
    let until: Timestamp = stage.now() + SignedDuration::from_secs(seconds);
    stage.run(RunBody::CooldownStarted(CooldownStarted {
        until,
        cause,
        is_retry: false,
    }));
    stage.tick(5_000);
}

/// All screens at this width, one below the other.
fn screens(width: u16) -> String {
    let mut text = String::new();
    for (name, play) in CASES {
        let mut stage = Stage::new(Options {
            files: Some("/state/run-1".to_owned()),
            ..terminal(width)
        });
        stage.begin(50);
        stage.tick(1_000);
        play(&mut stage);
        stage.tick(0);
        let mut screen = Screen::new(24, width);
        stage.out.writes().iter().for_each(|write| screen.write(write));
        let rows = screen.rows();
        assert!(
            rows.iter().all(|row| row.chars().count() <= usize::from(width)),
            "{rows:#?}"
        );
        text.push_str(&format!("=== {name}\n{}\n", rows.join("\n")));
    }
    text
}

#[test]
fn every_tool_and_every_state_has_a_screen() {
    for width in [60, 80, 120] {
        insta::assert_snapshot!(format!("screens_{width}"), screens(width));
    }
}

#[test]
fn a_pipe_has_the_same_words_without_colour() {
    for (name, play) in CASES {
        let mut stage = Stage::new(Options::piped(Mode::Default));
        stage.begin(50);
        stage.tick(1_000);
        play(&mut stage);
        let (out, _) = stage.finish();
        assert!(!out.contains('\u{1b}') && !out.contains('\r'), "{name}: {out}");
    }
}
