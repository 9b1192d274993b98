//! Behind a guard, dropping a run ends everything the agent ever started.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

use std::path::Path;
use std::time::Duration;

use claude_code::{
    Capabilities, Client, Environment, Event, Events, Exit, Limits, PrintRequest, RunOptions, SessionRequest,
};
use libtest_mimic::{Arguments, Trial};
use test_support::recorded;
use test_support::script::{Script, ScriptedAgent};

const LIMIT: Duration = Duration::from_secs(30);

fn main() {
    agent_process::guard_main();
    let trials = vec![
        trial(
            "dropping_the_events_ends_the_whole_family",
            async |client, directory| {
                let mut handle = client.print_stream_json(PrintRequest::new("Go.")).await.unwrap();
                wait_for_family(&mut handle.events, directory).await;
                drop(handle.events);
                assert_eq!(handle.completion.await.unwrap().exit, Exit::Cancelled);
            },
        ),
        trial(
            "dropping_the_handle_ends_the_whole_family",
            async |client, directory| {
                let mut handle = client.print_stream_json(PrintRequest::new("Go.")).await.unwrap();
                wait_for_family(&mut handle.events, directory).await;
                drop(handle);
            },
        ),
        trial(
            "dropping_a_session_ends_the_whole_family",
            async |client, directory| {
                let mut session = client.session(SessionRequest::new()).await.unwrap();
                wait_for_family(&mut session.events, directory).await;
                drop(session);
            },
        ),
        trial("a_timeout_ends_the_whole_family", async |client, directory| {
            let options = RunOptions::new().timeout(Duration::from_secs(5));
            let mut handle = client
                .print_stream_json(PrintRequest::new("Go.").options(options))
                .await
                .unwrap();
            wait_for_family(&mut handle.events, directory).await;
            while next(&mut handle.events).await.is_some() {}
            assert!(handle.completion.await.is_err());
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

async fn next(events: &mut Events) -> Option<Event> {
    events.next().await.map(Result::unwrap)
}

async fn wait_for_family(events: &mut Events, directory: &Path) {
    assert_eq!(next(events).await.unwrap().type_name().as_deref(), Some("ready"));
    assert!(
        recorded::alive(directory).unwrap().len() >= 6,
        "the family is not complete"
    );
}

/// An agent that ignores SIGTERM and starts five kinds of children, of which most leave its process group.
fn family(directory: &Path) -> ScriptedAgent {
    Script::new()
        .spawn_tree(directory)
        .emit(r#"{"type":"ready"}"#)
        .sleep_forever()
        .install()
        .unwrap()
}

fn trial(name: &'static str, test: impl AsyncFn(Client, &Path) + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let directory = tempfile::tempdir()?;
        let agent = family(directory.path());
        let mut environment = Environment::clear();
        for (name, value) in &agent.environment {
            environment = environment.set(name, value);
        }
        let grace = Duration::from_millis(100);
        let limits = Limits::default().interrupt_grace(grace).terminate_grace(grace);
        let client = Client::builder()
            .binary(&agent.program)
            .defaults(RunOptions::new().environment(environment).limits(limits))
            .capabilities(Capabilities::current())
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            tokio::time::timeout(LIMIT, test(client, directory.path()))
                .await
                .expect("this hangs");
            // Nobody may be left; the runtime goes on meanwhile, because it is the one that stops them.
            let place = directory.path().to_owned();
            let gone = tokio::task::spawn_blocking(move || recorded::wait_until_gone(&place, LIMIT));
            gone.await.unwrap().unwrap().expect("somebody is left");
        });
        Ok(())
    })
}
