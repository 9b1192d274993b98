//! `ralph`: run coding agents in a loop that people can watch, trust and stop.

use std::process::ExitCode;

use anyhow::Context as _;
use ralph::cli::{self, Command, ViewArgs};
use ralph::console::{Direct, one_line, sanitise, write_stderr, write_stdout};
use ralph::diagnostics::{self, Times};
use ralph::settings::load_view;
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
            let message = sanitise(&format!("{error:#}")).into_owned();
            write_stderr(&format!("ralph: {}\n", one_line(&message, MESSAGE_COLUMNS)));
            failure::exit_code(&error)
        }
    };
    diagnostics::finish();
    ExitCode::from(code)
}

fn execute(command: Command) -> anyhow::Result<u8> {
    // A run is one loop; a server has many clients.
    let runtime = match command {
        Command::Serve(_) => {
            agent_process::share_heap();
            tokio::runtime::Builder::new_multi_thread().enable_all().build()?
        }
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
    let view = |args: &ViewArgs| load_view(args, &variables, &cwd);
    let stdout = || Direct::new(std::io::stdout());
    match command {
        Command::Run(args) => commands::run::execute(&args, &home()?, &variables, &cwd).await,
        Command::Runner(args) => {
            commands::run::runner(&home()?, home::version_file(&variables), &args.directory).await
        }
        Command::Attach(args) => commands::screen::attach(&args, &home()?, &view(&args.view)?).await,
        Command::Send(args) => {
            commands::send::execute(args.into(), &home()?, std::io::stdin().lock(), &mut stdout()).await
        }
        Command::Queue(args) => {
            commands::queue::execute(args.into(), &home()?, std::io::stdin().lock(), &mut stdout()).await
        }
        Command::Answer(args) => commands::answer::execute(args.into(), &home()?, &mut stdout()).await,
        Command::Interrupt(args) => commands::interrupt::execute(&args.run, &home()?, &mut stdout()).await,
        Command::Stop(args) => commands::stop::execute(args.into(), &home()?, &mut stdout()).await,
        Command::Runs(args) => commands::runs::execute(&args, &home()?, &cwd),
        Command::Show(args) => commands::show::execute(&args, &home()?),
        Command::Logs(args) => commands::logs::execute(&args, &home()?, &view(&args.view)?).await,
        Command::Replay(args) => commands::replay::execute(&args, &home()?, &view(&args.view)?, &cwd).await,
        Command::Doctor(args) => commands::doctor::execute(&args, &home()?, &variables, &cwd).await,
        Command::Init(args) => {
            write_stdout(&sanitise(&commands::init::init(&args, &cwd)?));
            Ok(0)
        }
        Command::Clean(args) => commands::clean::execute(&args, &home()?),
        Command::Serve(args) => {
            let versions = home::version_file(&variables);
            commands::serve::execute(&args, &home()?, versions, &variables).await
        }
        Command::Search(args) => commands::serve::search(&args, &home()?, &variables).await,
        Command::Reindex(args) => commands::serve::reindex(&args, &home()?, &variables).await,
        Command::Demo(args) => commands::demo::execute(&args, &home()?, &variables, &cwd).await,
        Command::Completions(args) => {
            write_stdout(&commands::completions::render_completions(args.shell));
            Ok(0)
        }
    }
}
