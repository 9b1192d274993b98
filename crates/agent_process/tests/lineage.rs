//! Recognising processes by who started them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use agent_process::{Lineage, Marker, lineage};

fn marker() -> Marker {
    Marker::new("LINEAGE_TEST", "one")
}

/// A shell that prints the ids of processes, and then waits for its input to end.
struct Shell {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Shell {
    fn new(script: &str, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new("/bin/bash")
            .args(["-c", script])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn number(&mut self) -> u32 {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn a_process_is_recognised_at_any_depth_and_without_its_environment() {
    let own = std::process::id();
    let script = "env -i /bin/bash -c 'env -i /bin/bash -c \"echo \\$\\$; read line\"; true'; true";
    let mut shell = Shell::new(script, &[]);
    let deep = shell.number();
    assert_eq!(lineage(deep, own, &marker()), Lineage::Descendant);
    assert_eq!(lineage(deep, shell.child.id(), &marker()), Lineage::Descendant);
    assert_eq!(lineage(own, own, &marker()), Lineage::Unrelated, "it is itself");
    assert_eq!(lineage(own, deep, &marker()), Lineage::Unrelated);
}

#[test]
fn a_marker_above_a_process_that_has_removed_it_counts() {
    // No process has this id.
    let nobody = u32::try_from(i32::MAX).unwrap();
    let script = "env -u LINEAGE_TEST /bin/bash -c 'echo $$; read line'; true";
    let mut shell = Shell::new(script, &[("LINEAGE_TEST", "one")]);
    let child = shell.number();
    assert_eq!(lineage(child, nobody, &marker()), Lineage::Descendant);
    let other = Marker::new("LINEAGE_TEST", "two");
    assert_eq!(lineage(child, nobody, &other), Lineage::Unrelated);
}

#[test]
fn a_process_that_has_ended_is_not_taken_for_an_unrelated_one() {
    let mut shell = Shell::new("/bin/bash -c 'echo $$'; read line", &[]);
    let ended = shell.number();
    // The shell has reaped it when it answers.
    shell.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    shell.child.wait().unwrap();
    assert_eq!(lineage(ended, std::process::id(), &marker()), Lineage::Gone);
}
