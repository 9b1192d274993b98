//! How it ends when it is told to.

use crate::scenario::{Scenario, Step, bash};
use serde_json::json;
use test_support::script::Signal;

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        streaming(
            "signal_int_streaming",
            "SIGINT while the answer streams",
            Signal::Interrupt,
        ),
        streaming(
            "signal_term_streaming",
            "SIGTERM while the answer streams",
            Signal::Terminate,
        ),
        streaming(
            "signal_hup_streaming",
            "SIGHUP while the answer streams",
            Signal::HangUp,
        ),
        streaming(
            "signal_kill_streaming",
            "SIGKILL while the answer streams",
            Signal::Kill,
        ),
        in_tool(
            "signal_int_bash",
            "SIGINT while a command runs",
            Signal::Interrupt,
        ),
        in_tool(
            "signal_term_bash",
            "SIGTERM while a command runs",
            Signal::Terminate,
        ),
        in_tool("signal_kill_bash", "SIGKILL while a command runs", Signal::Kill),
    ]
}

fn streaming(name: &'static str, what: &'static str, signal: Signal) -> Scenario {
    let third_delta = json!({"event": {"delta": {"text": "s slowly"}}});
    Scenario::plain(name, what, "gate:signal").partial().step([
        Step::AwaitGate("signal"),
        Step::Await(third_delta),
        Step::Signal(signal),
    ])
}

fn in_tool(name: &'static str, what: &'static str, signal: Signal) -> Scenario {
    Scenario::scripted(name, what, &[vec![bash("touch started; sleep 10")]])
        .step([Step::AwaitFile("started"), Step::Signal(signal)])
}
