//! `ralph`: run coding agents in a loop that people can watch, trust and stop.

use std::process::ExitCode;

use ralph::cli::{self, Command};
use ralph::console::{one_line, sanitise, write_stderr, write_stdout};
use ralph::{commands, failure, home};

/// More than any message of ours; some quote what an agent wrote.
const MESSAGE_COLUMNS: usize = 2_000;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "__runner") {
        // Before anything is forked: a run in the background has no terminal. One that leads a group has none already.
        let _ = agent_process::start_session();
    }
    agent_api::demo_main();
    agent_process::guard_main();
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(stop) => {
            if stop.is_error {
                write_stderr(&stop.text);
            } else {
                write_stdout(&stop.text);
            }
            return ExitCode::from(stop.exit_code);
        }
    };
    let code = match execute(cli.command) {
        Ok(code) => code,
        Err(error) => {
            let message = sanitise(&format!("{error:#}")).into_owned();
            write_stderr(&format!("ralph: {}\n", one_line(&message, MESSAGE_COLUMNS)));
            failure::exit_code(&error)
        }
    };
    ExitCode::from(code)
}

fn execute(command: Command) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(dispatch(command));
    // Nothing that still waits, such as a read of our stdin, may keep us.
    runtime.shutdown_background();
    code
}

async fn dispatch(command: Command) -> anyhow::Result<u8> {
    let variables = |name: &str| std::env::var(name).ok();
    let home = || home::home(&variables);
    let cwd = std::env::current_dir()?;
    match command {
        Command::Run(args) => commands::run::execute(&args, &home()?, &variables, &cwd).await,
        Command::Runner(args) => commands::run::runner(&home()?, &args.directory).await,
        _ => Err(failure::Failure::usage("not in this version").into()),
    }
}
