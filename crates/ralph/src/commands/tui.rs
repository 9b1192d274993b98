//! The doors to the terminal UI: `ralph` alone, `ralph run --tui` and `ralph attach --tui`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use ralph_run::control::PermissionChoice;
use ralph_run::{EndReason, Home, RunFile, RunKind, short_run_id};
use ralph_server::{Launcher as _, Running, SessionStart, StartRun};
use ralph_tui::{Actions, ColorScheme, Exit, KeyChanges, Keymap, MouseMode, StartRequest, TuiOptions};
use run_view::one_line;

use super::serve::{DEFAULT_PORT, Detached, LOGIN_PAGE_KEPT, try_open_login};
use crate::console::write_stderr;
use crate::diagnostics;
use crate::settings::values::{parse_count, parse_money};
use crate::settings::{ColorChoice, Output, SettingsError, ThemeChoice, Verbosity, View};

/// As a shell gives for a process that a signal ended: this and the signal's number.
const SIGNAL_EXIT_CODE: i32 = 128;
/// Reasons are shown in one line of the screen.
const REASON_COLUMNS: usize = 500;

/// Why this terminal cannot show the terminal UI.
fn obstacle(variables: &dyn Fn(&str) -> Option<String>, is_terminal: bool) -> Option<&'static str> {
    let is_dumb = variables("TERM").is_none_or(|term| matches!(&*term, "" | "dumb"));
    let is_accessible = variables("ACCESSIBLE").is_some_and(|value| !matches!(&*value, "" | "0" | "false"));
    if !is_terminal {
        Some("stdin or stdout is not a terminal")
    } else if is_dumb {
        Some("the terminal cannot move its cursor (TERM is `dumb` or not set)")
    } else if is_accessible {
        Some("ACCESSIBLE is set")
    } else {
        None
    }
}

fn current_obstacle() -> Option<&'static str> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    obstacle(&|name| std::env::var(name).ok(), is_terminal)
}

/// Whether a command line with this number of words opens the home screen. In a terminal that cannot show it, says why.
pub fn home_is_wanted(words: usize) -> bool {
    if words != 1 || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return false;
    }
    match current_obstacle() {
        Some(why) => {
            write_stderr(&format!("ralph: no terminal UI here: {why}\n\n"));
            false
        }
        None => true,
    }
}

/// Whether a run is shown in the terminal UI instead of the console. If it was asked for and cannot be, says why.
pub(super) fn opens(is_asked: bool, view: &View) -> bool {
    let is_silent = view.verbosity == Verbosity::Quiet || view.output == Output::Json;
    if !is_asked && (!view.tui || is_silent) {
        return false;
    }
    match current_obstacle() {
        Some(why) => {
            write_stderr(&format!("ralph: no terminal UI here: {why}; using the console\n"));
            false
        }
        None => true,
    }
}

/// Shows all runs until the user leaves.
pub async fn show_home(home: &Home, view: &View) -> anyhow::Result<u8> {
    show(home, view, ralph_tui::Start::Home).await
}

/// Shows a run until the user leaves. The exit code is the run's if it has ended.
pub(super) async fn show_run(home: &Home, view: &View, id: &str) -> anyhow::Result<u8> {
    let code = show(home, view, ralph_tui::Start::Run(id.to_owned())).await?;
    let run = home.run(id).filter(|_| code == 0);
    let file = run.and_then(|run| RunFile::load(&run.run_file()).ok());
    Ok(file.and_then(|file| file.exit_code).unwrap_or(code))
}

async fn show(home: &Home, view: &View, start: ralph_tui::Start) -> anyhow::Result<u8> {
    let options = TuiOptions {
        home: home.clone(),
        actions: Arc::new(ProgramActions { home: home.clone() }),
        start,
        workspace: std::env::current_dir().unwrap_or_default(),
        scheme: scheme(
            view,
            std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        ),
        mouse: mouse_mode(&|name| std::env::var(name).ok())?,
        selection_modifier: selection_modifier(std::env::var("TERM_PROGRAM").ok().as_deref()),
        keymap: keymap(std::env::var("RALPH_KEYS").ok().as_deref())?,
        has_fixed_colors: has_fixed_colors(&|name| std::env::var(name).ok()),
    };
    diagnostics::hold();
    let exit = ralph_tui::run(options).await;
    diagnostics::release();
    Ok(match exit? {
        Exit::Left { open_run, problems } => {
            for problem in problems {
                write_stderr(&format!("{problem}\n"));
            }
            // It may have ended while the last screen was shown.
            let has_ended = |run: &String| {
                let file = home.run(run).map(|run| RunFile::load(&run.run_file()));
                file.is_some_and(|file| file.is_ok_and(|file| file.is_ended()))
            };
            if let Some(run) = open_run.filter(|run| !has_ended(run)) {
                let id = short_run_id(&run);
                write_stderr(&format!(
                    "run {id} continues; come back with `ralph attach {id} --tui`, stop it with `ralph stop {id}`\n"
                ));
            }
            0
        }
        Exit::TerminalClosed => EndReason::HungUp.exit_code(),
        Exit::Signalled(number) => u8::try_from(SIGNAL_EXIT_CODE + number).unwrap_or(1),
    })
}

/// What the mouse is used for: `RALPH_MOUSE`, or everything but under mosh, whose replies come late and where copying with
/// the mouse is all that works.
fn mouse_mode(variables: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<MouseMode> {
    Ok(match variables("RALPH_MOUSE").as_deref().unwrap_or_default() {
        "" if variables("MOSH_CONNECTION").is_some() => MouseMode::Off,
        "" | "full" => MouseMode::Full,
        "wheel" => MouseMode::Wheel,
        "off" => MouseMode::Off,
        other => {
            let other = one_line(other, 40);
            return wrong_variable(format!(
                "RALPH_MOUSE must be `off`, `wheel` or `full`, not `{other}`"
            ));
        }
    })
}

/// What selects text in a terminal that reports the mouse.
fn selection_modifier(program: Option<&str>) -> &'static str {
    match program {
        Some("iTerm.app") => "option",
        Some("Apple_Terminal") => "fn",
        _ => "shift",
    }
}

/// Whether the terminal has 256 colors, as nearly all of them do and say.
fn has_fixed_colors(variables: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = variables("TERM").unwrap_or_default();
    term.contains("256color")
        || term.contains("direct")
        || ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"].contains(&&*term)
        || variables("COLORTERM").is_some_and(|value| !value.is_empty())
}

/// The keys, with the changes of `RALPH_KEYS`: `run.stop=ctrl-x, home.open=enter o`. They belong to the user, not to a
/// `ralph.yml`, which comes with a repository.
fn keymap(changes: Option<&str>) -> anyhow::Result<Keymap> {
    let mut found = KeyChanges::new();
    let parts = changes.unwrap_or_default().split(',').map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        let Some((name, keys)) = part.split_once('=') else {
            let part = one_line(part, 60);
            return wrong_variable(format!(
                "RALPH_KEYS: `{part}` is not `action=key`, such as `run.stop=ctrl-x`"
            ));
        };
        let keys = keys.split_whitespace().map(str::to_owned).collect();
        if found.insert(name.trim().to_owned(), keys).is_some() {
            let name = one_line(name.trim(), 60);
            return wrong_variable(format!("RALPH_KEYS: `{name}` is given twice"));
        }
    }
    Keymap::with_changes(&found).or_else(|reason| wrong_variable(format!("RALPH_KEYS: {reason}")))
}

fn wrong_variable<T>(reason: String) -> anyhow::Result<T> {
    Err(SettingsError::Conflict(reason).into())
}

/// The colors that the user chose. `None` leaves it to the terminal.
pub(super) fn scheme(view: &View, is_no_color_set: bool) -> Option<ColorScheme> {
    let is_colored = match view.color {
        ColorChoice::Auto => !is_no_color_set,
        ColorChoice::Always => true,
        ColorChoice::Never => false,
    };
    if !is_colored {
        return Some(ColorScheme::None);
    }
    match view.theme {
        ThemeChoice::Auto => None,
        ThemeChoice::Dark => Some(ColorScheme::Dark),
        ThemeChoice::Light => Some(ColorScheme::Light),
    }
}

/// Starts runs as the server does, and finds the server.
#[derive(Debug)]
struct ProgramActions {
    home: Home,
}

impl ProgramActions {
    fn launch(&self, request: StartRun) -> Result<String, String> {
        let launcher = Detached {
            home: self.home.clone(),
        };
        block_on(async { launcher.start(None, request).await.map_err(anyhow::Error::new) })
    }
}

impl Actions for ProgramActions {
    fn start(&self, request: &StartRequest) -> Result<String, String> {
        let run = start_of(request)?;
        self.launch(run)
    }

    fn resume(&self, run: &str, is_fork: bool) -> Result<String, String> {
        let directory = self
            .home
            .run(run)
            .ok_or_else(|| format!("run {run} does not exist any more"))?;
        let file = RunFile::load(&directory.run_file()).map_err(|error| error.to_string())?;
        let run = run.to_owned();
        let mut request = empty_start(PathBuf::from(file.workspace));
        // It waits for what its user says next.
        request.kind = RunKind::Session;
        request.session = if is_fork {
            SessionStart::Fork { run }
        } else {
            SessionStart::Resume { run }
        };
        self.launch(request)
    }

    fn open_in_browser(&self, run: &str) -> Result<(), String> {
        let running = Running::find(self.home.state_directory(), DEFAULT_PORT).ok_or_else(|| {
            format!("no server is running on port {DEFAULT_PORT}; start one with `ralph serve`")
        })?;
        let url = block_on(async { running.login_url().await.map_err(anyhow::Error::new) })?;
        let page = try_open_login(&self.home, &run_login_url(&url, run))?;
        // The browser has to read it.
        let keep = move || {
            thread::sleep(LOGIN_PAGE_KEPT);
            drop(page);
        };
        let kept = thread::Builder::new().name("login page".to_owned()).spawn(keep);
        kept.map(drop).map_err(|error| error.to_string())
    }
}

/// A login link that leads to a run. What follows the code is in the fragment too: the page reads it, no server does.
fn run_login_url(url: &str, run: &str) -> String {
    format!("{url}&run={run}")
}

/// The run that a user described, with what was typed checked.
fn start_of(request: &StartRequest) -> Result<StartRun, String> {
    let text = |value: &Option<String>| value.clone().filter(|text| !text.trim().is_empty());
    let max_cost = text(&request.max_cost).map(|cost| parse_money(&cost)).transpose();
    let max_cost = max_cost.map_err(|reason| format!("the cost limit {reason}"))?;
    let max_iterations = text(&request.max_iterations)
        .map(|count| parse_count(&count))
        .transpose();
    let mut run = empty_start(PathBuf::from(&request.workspace));
    run.kind = if request.is_conversation {
        RunKind::Session
    } else {
        RunKind::Loop
    };
    run.prompt = Some(request.prompt.clone()).filter(|prompt| !prompt.trim().is_empty());
    run.backend = text(&request.backend);
    run.model = text(&request.model);
    run.mode = text(&request.mode);
    run.max_iterations = max_iterations.map_err(|reason| format!("the number of iterations {reason}"))?;
    run.max_cost_micro_usd = max_cost.map(|cost| cost.as_micro_usd());
    run.verify = text(&request.verify).map(|command| vec![command]);
    run.permission_mode = (!request.asks).then_some(PermissionChoice::Bypass);
    Ok(run)
}

fn empty_start(workspace: PathBuf) -> StartRun {
    StartRun {
        kind: RunKind::Loop,
        workspace,
        backend: None,
        model: None,
        prompt: None,
        mode: None,
        task: None,
        system_prompt: None,
        append_system_prompt: None,
        allowed_tools: None,
        auth: None,
        accepts_input: None,
        once: false,
        max_iterations: None,
        max_cost_micro_usd: None,
        cost_ceiling_micro_usd: None,
        max_runtime_seconds: None,
        max_turns: None,
        max_tokens: None,
        verify: None,
        permission_mode: None,
        session: SessionStart::New,
        ephemeral: false,
        trust: None,
        by: None,
    }
}

/// Waits on a thread that may wait.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime
        .context("cannot start a runtime")
        .and_then(|runtime| runtime.block_on(work));
    done.map_err(|error| one_line(&format!("{error:#}"), REASON_COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::{keymap, mouse_mode, obstacle};

    #[test]
    fn keys_and_mouse_of_the_environment_are_read_or_refused() {
        assert!(keymap(None).is_ok());
        assert!(keymap(Some("run.stop=ctrl-x, home.open=enter o")).is_ok());
        for wrong in ["run.stop", "run.stop=x", "run.stop=Z,run.stop=Y", "run.stop="] {
            let refused = keymap(Some(wrong)).unwrap_err().to_string();
            assert!(refused.starts_with("RALPH_KEYS: "), "{refused}");
        }
        let with = |value: &'static str| move |name: &str| (name == "RALPH_MOUSE").then(|| value.to_owned());
        for value in ["", "full", "wheel", "off"] {
            assert!(mouse_mode(&with(value)).is_ok());
        }
        assert!(mouse_mode(&with("on")).is_err());
    }

    #[test]
    fn a_terminal_ui_needs_a_terminal_that_can_show_it() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            }
        };
        assert_eq!(obstacle(&with(&[("TERM", "xterm")]), true), None);
        assert_eq!(
            obstacle(&with(&[("TERM", "xterm"), ("ACCESSIBLE", "0")]), true),
            None
        );
        for (variables, is_terminal) in [
            (with(&[("TERM", "xterm")]), false),
            (with(&[("TERM", "dumb")]), true),
            (with(&[]), true),
            (with(&[("TERM", "xterm"), ("ACCESSIBLE", "1")]), true),
        ] {
            assert!(obstacle(&variables, is_terminal).is_some());
        }
    }
}
