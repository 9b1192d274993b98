//! `ralph demo`: a run of the scripted agent, which needs no installation, key or money.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use demo_agent::VERIFY_COMMAND;
use jiff::Timestamp;
use ralph_run::Home;

use super::run::{self, RunArgs};
use crate::console::write_stdout;
use crate::settings::values::parse_speed;
use crate::settings::{BackendName, Output, SettingsLayer, Verbosity, ViewArgs, load_view};
use crate::trust::Policy;
use run_view::sanitise;

/// Watch a scripted agent work: needs no agent, key or money
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "Examples:
  ralph demo
  ralph demo --speed 3 -v")]
pub struct DemoArgs {
    /// Where the agent works [default: a new temporary directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// 2 is twice as fast, `max` skips all pauses
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,

    #[command(flatten)]
    pub view: ViewArgs,
}

const PROMPT: &str = "Make ralph-demo/greet.sh work: its check is ralph-demo/check.sh.";

/// More than the script needs.
const MAX_ITERATIONS: u32 = 5;

/// How many names are tried for a new folder.
const MAX_FOLDERS: u32 = 100;

/// The variables that decide how the demo looks. All others are for the user's own runs.
const VARIABLES: [&str; 4] = ["RALPH_VERBOSE", "RALPH_QUIET", "RALPH_COLOR", "RALPH_OUTPUT"];

/// Runs the demo agent, then prints what to try next.
pub async fn execute(
    args: &DemoArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let variables = |name: &str| VARIABLES.contains(&name).then(|| variables(name)).flatten();
    let folder = match &args.directory {
        Some(folder) => folder.clone(),
        None => new_folder(&std::env::temp_dir(), Timestamp::now()).context("cannot make a folder")?,
    };
    let view = load_view(
        &args.view,
        &variables,
        &cwd.join(&folder),
        &Policy::as_stored(home),
    )?;
    let is_text = view.output == Output::Text && view.verbosity != Verbosity::Quiet;
    if is_text {
        let place = folder.display().to_string();
        write_stdout(&format!(
            "A scripted agent repairs a script in {}.\nNo model is used; the costs are made up.\n\n",
            sanitise(&place)
        ));
    }
    let run_args = RunArgs {
        directory: Some(folder),
        settings: SettingsLayer {
            prompt: Some(PROMPT.to_owned()),
            backend: Some(BackendName::demo()),
            verify: Some(vec![VERIFY_COMMAND.to_owned()]),
            max_iterations: Some(MAX_ITERATIONS),
            ..SettingsLayer::default()
        },
        // Settings for other runs are not for this one.
        no_trust: true,
        view: args.view.clone(),
        extra: args.speed.map(speed).into_iter().collect(),
        ..RunArgs::default()
    };
    let code = run::execute(&run_args, home, &variables, cwd).await?;
    if is_text && code == 0 {
        write_stdout(NEXT);
    }
    Ok(code)
}

const NEXT: &str = "
The agent said it was done before it was. ralph ran the check, which failed, so
the agent had to continue.

Next:
  ralph show            this run's state, cost and files
  ralph replay latest   play it again
  ralph doctor          check whether a real agent can run here
  ralph init            write ralph.yml and PROMPT.md for your project
  ralph run             work through PROMPT.md until the work is verified
  ralph serve           all runs in a browser, with search and an API
";

fn speed(factor: f64) -> String {
    if factor > 0.0 {
        format!("--demo-speed={factor}")
    } else {
        "--demo-speed=max".to_owned()
    }
}

/// A new folder that only this user can read. It is kept, so that people can see what the agent did.
fn new_folder(parent: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let name = format!("ralph-demo-{}", now.strftime("%Y%m%d-%H%M%S"));
    let mut problem = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 1..=MAX_FOLDERS {
        let path = match number {
            1 => parent.join(&name),
            _ => parent.join(format!("{name}-{number}")),
        };
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => problem = error,
            Err(error) => return Err(error),
        }
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use jiff::Timestamp;

    use super::new_folder;

    #[test]
    fn every_demo_has_a_folder_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let first = new_folder(parent.path(), Timestamp::UNIX_EPOCH).unwrap();
        let second = new_folder(parent.path(), Timestamp::UNIX_EPOCH).unwrap();
        assert_ne!(first, second);
        let mode = second.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
