//! Tests of the home screen, and what they share: runs, keys, pictures.

mod answers;
mod hostile;
mod list;
mod new_run;
mod screens;

use std::time::{Duration, Instant};

use agent_api::{AgentKind, Body, Event, Json, MicroUsd, PermissionRequested, RequestId, ToolKind};
use jiff::Timestamp;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::{EndReason, Record, RunEvent, RunFile, RunKind, RunStatus, Runner};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use super::HomeScreen;
use crate::app::Now;
use crate::effect::Effect;
use crate::input::RunSummary;
use crate::notice::Notice;
use crate::theme::{ColorScheme, Theme};

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A clock that tests move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Now,
}

impl Clock {
    pub(super) fn new() -> Self {
        let now = Now {
            at: at("2026-11-18T12:00:00Z"),
            instant: Instant::now(),
        };
        Self { now }
    }

    pub(super) fn pass(&mut self, milliseconds: u64) -> Now {
        self.now.instant += Duration::from_millis(milliseconds);
        self.now.at += Duration::from_millis(milliseconds);
        self.now
    }
}

pub(super) fn id(number: u32) -> String {
    format!("20261118-100000-{number:08}")
}

pub(super) fn run(number: u32, state: RunState) -> RunSummary {
    let started_at = at("2026-11-18T10:00:00Z") + Duration::from_secs(u64::from(number));
    let ended_at = state.has_ended().then(|| started_at + Duration::from_secs(1_200));
    RunSummary {
        file: RunFile {
            version: RunFile::VERSION,
            run_id: id(number),
            workspace: format!("/home/ada/project-{}", number % 3),
            backend: AgentKind::DEMO,
            display_name: "Demo".to_owned(),
            model: Some("demo-1".to_owned()),
            agent_version: None,
            permission_mode: None,
            cwd: None,
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            session_ids: Vec::new(),
            mode: None,
            task: Some(format!("Task {number}")),
            kind: RunKind::Loop.into(),
            by: None,
            resumed_from: None,
            is_ephemeral: false,
            prompt: "Make the tests pass".to_owned(),
            started_at,
            ended_at,
            status: RunStatus {
                state,
                state_since: Some(at("2026-11-18T11:58:00Z")),
                iteration: 3,
                max_iterations: Some(50),
                max_cost: Some(MicroUsd::new(10_000_000)),
                totals: ralph_run::Totals {
                    cost: Some(MicroUsd::new(4_200_000)),
                    ..Default::default()
                },
                ..RunStatus::default()
            },
            reason: None,
            exit_code: None,
            runner: Runner {
                pid: 1,
                start_time: 1,
                boot_id: String::new(),
            },
            ralph_version: "0.1.0".to_owned(),
            other: serde_json::Map::new(),
        },
        is_lost: false,
        is_suspended: false,
        activity: Vec::new(),
    }
}

pub(super) fn working(number: u32) -> RunSummary {
    let mut run = run(number, RunState::tool("Bash", Some("cargo test")));
    run.activity = vec![0, 10, 400, 0, 20, 800, 300, 0, 50];
    run
}

pub(super) fn waiting(number: u32) -> RunSummary {
    run(
        number,
        RunState::Waiting {
            what: WaitingFor::Permission,
        },
    )
}

pub(super) fn ended(number: u32) -> RunSummary {
    let reason = EndReason::Completed.into();
    run(number, RunState::Ended { reason })
}

pub(super) fn permission(command: &str) -> PermissionRequested {
    let mut asked = PermissionRequested::new(RequestId::new("p1"), "Bash", ToolKind::Execute);
    let input = serde_json::json!({ "command": command, "timeout": 60 });
    asked.subject = Some(command.lines().next().unwrap_or_default().to_owned());
    asked.input = Json::from_text(input.to_string()).ok();
    asked
}

/// A run, folded from these events.
pub(super) fn model(events: impl IntoIterator<Item = RunEvent>) -> Box<RunModel> {
    let mut model = RunModel::new();
    for (seq, event) in (1..).zip(events) {
        model.apply(&Record {
            seq,
            at: at("2026-11-18T11:58:00Z"),
            iteration: 3,
            attempt: 1,
            event,
        });
    }
    Box::new(model)
}

pub(super) fn agent(body: Body) -> RunEvent {
    RunEvent::Agent(Event::new(AgentKind::DEMO, body))
}

pub(super) fn asking(asked: PermissionRequested) -> Box<RunModel> {
    model([agent(Body::PermissionRequested(Box::new(asked)))])
}

pub(super) fn screen(runs: Vec<RunSummary>, clock: Clock) -> HomeScreen {
    let mut screen = HomeScreen::default();
    screen.set_workspace("/home/ada/project-1".to_owned());
    screen.set_runs(runs, clock.now);
    screen
}

pub(super) fn press(screen: &mut HomeScreen, keys: &str, clock: Clock) -> Vec<Effect> {
    let mut effects = Vec::new();
    for character in keys.chars() {
        effects.extend(screen.key(&Key::Character(character), clock.now));
    }
    effects.retain(|effect| !matches!(effect, Effect::Preview { .. }));
    effects
}

pub(super) fn selected(screen: &HomeScreen) -> Option<String> {
    screen.list.selected_id().map(str::to_owned)
}

pub(super) fn listed(screen: &HomeScreen) -> Vec<String> {
    let rows = (0..screen.list.len()).filter_map(|row| screen.list.row(row));
    rows.map(|run| run.file.run_id.clone()).collect()
}

pub(super) fn draw(
    screen: &mut HomeScreen,
    (columns, rows): (u16, u16),
    scheme: ColorScheme,
    now: Now,
) -> (Buffer, Option<Position>) {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    let theme = Theme::new(scheme);
    let cursor = screen.render(area, &mut buffer, theme, now);
    if let Some(notice) = screen
        .notice
        .as_deref()
        .and_then(|text| Notice::new(text, now.instant))
    {
        notice.render(area, &mut buffer, theme);
    }
    (buffer, cursor)
}

/// The text of a picture, without spaces at the ends of its lines.
pub(super) fn text_of(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let lines = rows.map(|row| {
        let mut line = String::new();
        let mut skipped = 0;
        for cell in row {
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            skipped = run_view::width(cell.symbol()).saturating_sub(1);
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
