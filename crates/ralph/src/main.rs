//! `ralph`: run coding agents in a loop that people can watch, trust and stop.

use std::process::ExitCode;

use anyhow::Context as _;
use ralph::cli::{self, Command};
use ralph::console::{render_error, write_stderr, write_stdout};
use ralph::diagnostics::{self, Times};
use ralph::settings::{ViewArgs, load_view};
use ralph::trust::{Choice, Policy};
use ralph::{commands, current_process, failure, home};
use run_view::sanitise;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "__runner") {
        // Before anything is forked: a run in the background has no terminal. One that leads a group has none already.
        let _ = current_process::start_session();
    }
    demo_agent::demo_main();
    agent_process::guard_main();
    let parsed = match commands::tui::home_is_wanted(std::env::args_os().len()) {
        true => Ok(cli::Cli {
            command: Command::Home,
        }),
        false => cli::parse(std::env::args_os()),
    };
    let cli = match parsed {
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
    if !cli.command.is_quiet() {
        let times = match cli.command {
            Command::Runner(_) => Times::Shown,
            _ => Times::Hidden,
        };
        diagnostics::install(std::env::var(diagnostics::VARIABLE).ok().as_deref(), times);
    }
    let code = match execute(cli.command) {
        Ok(code) => code,
        Err(error) => {
            write_stderr(&render_error(&format!("{error:#}")));
            failure::exit_code(&error)
        }
    };
    diagnostics::finish();
    ExitCode::from(code)
}

fn execute(command: Command) -> anyhow::Result<u8> {
    // A run is one loop; a server has many clients.
    let runtime = match command {
        Command::Serve(_) => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        _ => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
    };
    let code = runtime.block_on(dispatch(command));
    // Nothing that still waits, such as a read of our stdin, may keep us.
    runtime.shutdown_background();
    code
}

async fn dispatch(command: Command) -> anyhow::Result<u8> {
    let variables = |name: &str| std::env::var(name).ok();
    let home = || home::home(&variables);
    let cwd = std::env::current_dir().context("the current directory is gone")?;
    let view = |args: &ViewArgs| {
        let home = home().ok();
        let policy = Policy {
            home: home.as_ref(),
            choice: Choice::AsStored,
        };
        load_view(args, &variables, &cwd, &policy)
    };
    let stdout = std::io::stdout;
    match command {
        Command::Run(args) => commands::run::execute(&args, &home()?, &variables, &cwd).await,
        Command::Runner(args) => commands::run::runner(&home()?, &args.directory).await,
        Command::Home => commands::tui::show_home(&home()?, &view(&ViewArgs::default())?).await,
        Command::Attach(args) => commands::attach::execute(&args, &home()?, &view(&args.view)?).await,
        Command::Send(args) => {
            commands::send::execute(args, &home()?, std::io::stdin().lock(), &mut stdout()).await
        }
        Command::Queue(args) => {
            commands::queue::execute(args, &home()?, std::io::stdin().lock(), &mut stdout()).await
        }
        Command::Answer(args) => commands::answer::execute(&args, &home()?, &mut stdout()).await,
        Command::Interrupt(args) => commands::interrupt::execute(&args, &home()?, &mut stdout()).await,
        Command::Stop(args) => commands::stop::execute(&args, &home()?, &mut stdout()).await,
        Command::TopUp(args) => commands::top_up::execute(&args, &home()?, &mut stdout()).await,
        Command::Tasks(args) => commands::tasks::execute(&args, &home()?, &variables, &cwd).await,
        Command::Plan(args) => {
            commands::plan::execute(&args, &home()?, &view(&args.view)?, &variables, &cwd).await
        }
        Command::Runs(args) => commands::runs::execute(&args, &home()?, &cwd),
        Command::Show(args) => commands::show::execute(&args, &home()?).await,
        Command::Logs(args) => commands::logs::execute(&args, &home()?, &view(&args.view)?).await,
        Command::Replay(args) => commands::replay::execute(&args, &home()?, &view(&args.view)?, &cwd).await,
        Command::Agents(args) => {
            commands::agents::execute(args, &home()?, &variables, &cwd, &mut stdout()).await
        }
        Command::Service(args) => commands::service::execute(&args, &variables, &mut stdout()),
        Command::Doctor(args) => commands::doctor::execute(&args, &home()?, &variables, &cwd).await,
        Command::Init(args) => {
            write_stdout(&sanitise(&commands::init::init(&args, &cwd)?));
            Ok(0)
        }
        Command::Trust(args) => commands::trust::execute(&args, &home()?, &variables, &cwd),
        Command::Notify(args) => commands::notify::execute(&args, &home()?, &variables, &cwd),
        Command::Clean(args) => commands::clean::execute(&args, &home()?),
        Command::Worktrees(args) => commands::worktrees::execute(&args, &home()?, &variables, &cwd).await,
        Command::Merge(args) => commands::merge::execute(&args, &home()?, &variables, &cwd).await,
        Command::Serve(args) => commands::serve::execute(&args, &home()?, &variables).await,
        Command::Token(args) => commands::token::execute(&args, &home()?, &variables, &cwd),
        Command::Search(args) => commands::search::execute(&args, &home()?, &variables).await,
        Command::Reindex(args) => commands::reindex::execute(&args, &home()?, &variables).await,
        Command::Demo(args) => commands::demo::execute(&args, &home()?, &variables, &cwd).await,
        Command::Complete(args) => Ok(commands::complete::execute(&args, &home()?, &cwd)),
        Command::Help(args) => commands::help::execute(&args),
        Command::Completions(args) => {
            write_stdout(&commands::completions::render_completions(args.shell));
            Ok(0)
        }
    }
}
