//! `ralph demo`: a run from start to end without an agent, a key or costs.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use demo_agent::VERIFY_COMMAND;
use jiff::Timestamp;
use ralph_run::Home;

use super::run::{self, RunArgs};
use crate::console::{sanitise, write_stdout};
use crate::settings::values::parse_speed;
use crate::settings::{BackendName, Output, SettingsLayer, Verbosity, ViewArgs, load_view};
use crate::trust::Policy;

/// See a run from start to end with a scripted agent: no agent, no key, no costs
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "Examples:
  ralph demo
  ralph demo --speed 3 -v")]
pub struct DemoArgs {
    /// Where the agent works; a new folder under the system's temporary one otherwise
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// 2 is twice as fast, `max` is without any pause
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// What the demo agent is asked.
const PROMPT: &str = "Make ralph-demo/greet.sh work: its check is ralph-demo/check.sh.";

/// More than the show needs.
const MOST_ITERATIONS: u32 = 5;

/// How many names are tried for a new folder.
const MOST_FOLDERS: u32 = 100;

/// The variables that decide how the demo looks. What somebody set for their own runs is not for this one.
const VARIABLES: [&str; 4] = ["RALPH_VERBOSE", "RALPH_QUIET", "RALPH_COLOR", "RALPH_OUTPUT"];

/// Runs the demo agent through the whole path, then says what to try next.
///
/// # Errors
/// When it could not begin.
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
    let is_told = view.output == Output::Text && view.verbosity != Verbosity::Quiet;
    if is_told {
        let place = folder.display().to_string();
        write_stdout(&format!(
            "A scripted agent repairs a script in {}. No model is asked, the costs are made up.\n\n",
            sanitise(&place)
        ));
    }
    let run_args = RunArgs {
        directory: Some(folder),
        settings: SettingsLayer {
            prompt: Some(PROMPT.to_owned()),
            backend: Some(BackendName::demo()),
            verify: Some(vec![VERIFY_COMMAND.to_owned()]),
            max_iterations: Some(MOST_ITERATIONS),
            ..SettingsLayer::default()
        },
        // Settings for other runs are not for this one.
        no_trust: true,
        view: args.view.clone(),
        extra: args.speed.map(speed).into_iter().collect(),
        ..RunArgs::default()
    };
    let code = run::execute(&run_args, home, &variables, cwd).await?;
    if is_told && code == 0 {
        write_stdout(NEXT);
    }
    Ok(code)
}

const NEXT: &str = "
The agent said that it was done when it was not; ralph ran the check, and the agent had to go on.

Next:
  ralph show          what is known about this run; `ralph replay latest` plays it again
  ralph doctor        whether a real agent can run here
  ralph init          write ralph.yml and PROMPT.md for your project
  ralph run           work through PROMPT.md until it is done and verified
  ralph serve         all runs in a browser, with search and an API
";

fn speed(factor: f64) -> String {
    if factor > 0.0 {
        format!("--demo-speed={factor}")
    } else {
        "--demo-speed=max".to_owned()
    }
}

/// A new folder that nobody else can look into. It stays: people want to see what the agent did.
fn new_folder(parent: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let name = format!("ralph-demo-{}", now.strftime("%Y%m%d-%H%M%S"));
    let mut problem = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 1..=MOST_FOLDERS {
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
