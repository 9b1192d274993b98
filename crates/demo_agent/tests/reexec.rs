//! A program that is its own demo agent.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

use std::time::Duration;

use agent_api::{AgentRegistry, Environment, RunOptions, RunRequest};
use demo_agent::{Demo, SPEED_EXTENSION};
use libtest_mimic::{Arguments, Trial};

const LIMIT: Duration = Duration::from_secs(60);

fn main() {
    demo_agent::demo_main();
    agent_process::guard_main();
    let trials = vec![Trial::test("a_program_can_be_its_own_demo_agent", || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(run());
        Ok(())
    })];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

async fn run() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = RunOptions::new();
    options.cwd = Some(directory.path().to_owned());
    options.environment = Environment::clear();
    options.extensions = [(SPEED_EXTENSION.to_owned(), "max".into())].into();
    let registry = AgentRegistry::new().with(Demo::reexec()).unwrap();
    let request = RunRequest::new("Make the greeting work.").options(options);
    let mut handle = registry.run("demo", request).await.unwrap();
    let read = async {
        while handle.events.next().await.is_some() {}
        handle.completion.await.unwrap()
    };
    let completed = tokio::time::timeout(LIMIT, read).await.expect("this hangs");
    assert!(completed.is_success(), "{:?}", completed.finished);
}
