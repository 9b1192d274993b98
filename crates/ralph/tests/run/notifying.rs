//! Notifications of a real run: by command, by webhook, and what happens if they fail.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use test_support::script::Script;
use test_support::wait_for;

use crate::stage::{Ran, Stage, says};

const SECRET: &str = "0123456789abcdef";

/// A request to the webhook.
struct Request {
    signature: String,
    body: String,
}

/// A server on loopback that answers each request with the next of these, and the last one for ever.
fn serve(answers: &'static [&'static str]) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            if let Some(request) = read_request(&stream) {
                let _ = sender.send(request);
            }
            let answer = answers
                .get(number)
                .or(answers.last())
                .copied()
                .unwrap_or_default();
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, requests)
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut signature) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "x-ralph-signature" => signature = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        signature,
        body: String::from_utf8(body).unwrap(),
    })
}

fn answer(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

const OK: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
const FAILS: &str = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

fn with_notify(script: &Script, notify: &str) -> Stage {
    let stage = Stage::new(script);
    let path = stage.workspace().join("ralph.yml");
    let settings = fs::read_to_string(&path).unwrap();
    // The scripted agent reports what it reads by events of its own.
    stage.configure(&format!(
        "{settings}watch: {{unknown_events: off}}\nnotify:\n{notify}\n"
    ));
    stage
}

/// Warnings of a kind in the journal.
fn warned(stage: &Stage, kind: &str) -> Vec<String> {
    let records = stage.records();
    let warned = records
        .iter()
        .filter(|record| record["event"]["data"]["kind"] == kind);
    warned
        .map(|record| record["event"]["data"]["message"].as_str().unwrap().to_owned())
        .collect()
}

/// The objects that the command wrote to a file, one per line.
fn received(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.workspace().join("seen")).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_gets_the_end_of_the_run_as_json_and_in_its_environment() {
    let line = "cat >> seen; echo \"$RALPH_EVENT $RALPH_KIND $RALPH_RUN_ID $RALPH_MESSAGE\" > variables";
    let stage = with_notify(&says("LOOP_COMPLETE"), &format!("  command: '{line}'"));
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let [seen] = received(&stage).try_into().unwrap();
    let run = stage.last_run();
    let id = run.file_name().unwrap().to_str().unwrap();
    assert_eq!(seen["event"], "ended");
    assert_eq!(seen["kind"], "completed");
    assert_eq!(seen["run_id"], id);
    assert_eq!(seen["exit_code"], 0);
    assert_eq!(seen["title"], "ralph: completed");
    let variables = fs::read_to_string(stage.workspace().join("variables")).unwrap();
    assert!(
        variables.starts_with(&format!("ended completed {id} 1 iteration")),
        "{variables}"
    );
}

#[test]
fn a_program_with_arguments_is_run_without_a_shell() {
    let stage = with_notify(
        &says("LOOP_COMPLETE"),
        "  command: [./tell.sh, \"$HOME; touch no\"]\n  on: [ended]",
    );
    let script = stage.workspace().join("tell.sh");
    fs::write(&script, "#!/bin/sh\ncat > seen\necho \"$1\" > argument\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    // The script is part of what is trusted.
    assert_eq!(stage.run(&[]).code, Some(78));
    stage.ralph(&["trust", "--yes"]).output().unwrap();
    assert_eq!(stage.run(&[]).code, Some(0));
    assert_eq!(received(&stage).len(), 1);
    let argument = fs::read_to_string(stage.workspace().join("argument")).unwrap();
    assert_eq!(argument, "$HOME; touch no\n");
}

#[test]
fn warnings_are_sent_while_the_run_lasts_and_only_those_events_that_are_wanted() {
    let stage = with_notify(&says("More to do."), "  command: cat >> seen\n  on: [warning]");
    stage.run(&["--max-iterations", "3"]);
    let [seen] = received(&stage).try_into().unwrap();
    assert_eq!(
        (&seen["event"], &seen["kind"]),
        (&"warning".into(), &"repeated_answer".into())
    );
    assert_eq!(seen["evidence"].as_array().unwrap().len(), 2);
}

#[test]
fn a_detached_run_sends_notifications_too_and_rings_no_bell() {
    let stage = with_notify(&says("LOOP_COMPLETE"), "  command: cat >> seen\n  bell: true");
    let ran = Ran::of(&stage.ralph(&["run", "-p", "x", "--detach"]).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let seen = wait_for("the notification", || received(&stage).pop());
    assert_eq!(seen["kind"], "completed");
    stage.wait_for_end();
    assert_eq!(warned(&stage, "notification_failed"), [""; 0]);
}

#[test]
fn a_command_that_fails_is_one_warning_and_does_not_change_the_run() {
    let stage = with_notify(&says("More to do."), "  command: echo no network >&2; exit 3");
    let ran = stage.run(&["--max-iterations", "4"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let journal = warned(&stage, "notification_failed");
    let shown = format!("{journal:?}{}", ran.stderr);
    assert!(shown.contains("`sh` exited with code 3: no network"), "{shown}");
    assert!(journal.len() <= 1, "{journal:?}");
}

#[test]
fn the_end_of_a_run_is_sent_by_a_command_that_takes_seconds() {
    // Longer than the delay after which the wait is announced, and far less than a command may take.
    let stage = with_notify(&says("LOOP_COMPLETE"), "  command: sleep 3; cat >> seen");
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(received(&stage).len(), 1);
    assert!(ran.stderr.contains("sending the last notification"), "{ran:?}");
}

#[test]
fn a_command_that_hangs_or_floods_is_given_up_after_its_timeout() {
    let give_up = |command: &str| {
        let stage = with_notify(&says("LOOP_COMPLETE"), &format!("  command: {command}"));
        let ran = stage.run(&[]);
        assert_eq!(ran.code, Some(0), "{command}");
        assert!(ran.stderr.contains("took longer than 10 s"), "{command}: {ran:?}");
    };
    std::thread::scope(|scope| {
        for command in ["sleep 600", "yes", "yes >&2"] {
            scope.spawn(move || give_up(command));
        }
    });
}

#[test]
fn a_webhook_is_signed_and_the_documented_check_accepts_it() {
    let (url, requests) = serve(&[OK]);
    let notify = format!("  webhook: {url}\n  webhook_secret_env: HOOK_KEY");
    let script = Script::new()
        .expect_no_variable("HOOK_KEY")
        .then(says("LOOP_COMPLETE"));
    let stage = with_notify(&script, &notify);
    let ran = Ran::of(
        &stage
            .ralph(&["run", "-p", "x", "--verify", "test -z \"$HOOK_KEY\""])
            .env("HOOK_KEY", SECRET)
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let Request { signature, body } = requests.recv_timeout(Duration::from_secs(60)).unwrap();
    let sent: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(sent["kind"], "completed");
    let is_accepted = |signature: &str, body: &str| check_in_python(signature, body);
    assert!(is_accepted(&signature, &body), "{signature}");
    assert!(!is_accepted(&signature, &body.replace("completed", "stopped")));
    assert!(!is_accepted(&signature.replace("t=1", "t=2"), &body));
}

/// Runs the example of `docs/notifications.md`.
fn check_in_python(signature: &str, body: &str) -> bool {
    let page = include_str!("../../../../docs/notifications.md");
    let (_, example) = page.split_once("```python\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let program = format!(
        "{example}\nimport sys\nprint(is_from_ralph(b'{SECRET}', sys.argv[1], sys.stdin.buffer.read()))"
    );
    let mut python = Command::new("python3")
        .args(["-c", &program, signature])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    match String::from_utf8(output.stdout).unwrap().trim() {
        "True" => true,
        "False" => false,
        other => unreachable!("{other}"),
    }
}

#[test]
fn a_webhook_that_fails_is_tried_again() {
    let (url, requests) = serve(&[FAILS, OK]);
    let stage = with_notify(&says("LOOP_COMPLETE"), &format!("  webhook: {url}"));
    let ran = Ran::of(&stage.ralph(&["notify", "test"]).output().unwrap());
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "webhook: sent\n"),
        "{ran:?}"
    );
    assert_eq!(requests.iter().take(2).count(), 2);
}

#[test]
fn a_webhook_that_redirects_is_refused_and_not_followed() {
    let (elsewhere, followed) = serve(&[OK]);
    let location = format!("302 Found\r\nLocation: {elsewhere}");
    let redirects: &'static str = Box::leak(answer(&location).into_boxed_str());
    let answers: &'static [&'static str] = Box::leak(vec![redirects].into_boxed_slice());
    let (url, requests) = serve(answers);
    let stage = with_notify(&says("LOOP_COMPLETE"), &format!("  webhook: {url}"));
    let ran = Ran::of(&stage.ralph(&["notify", "test"]).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(
        ran.stdout,
        "webhook: failed: the server answered 302; redirects are not followed\n"
    );
    assert_eq!(requests.try_iter().count(), 1);
    assert_eq!(followed.try_iter().count(), 0);
}

#[test]
fn a_webhook_that_hangs_delays_neither_the_run_nor_other_channels_and_ctrl_c_ends_the_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let stage = with_notify(
        &says("More to do."),
        &format!("  webhook: {url}\n  command: cat >> seen"),
    );
    let mut child = stage
        .ralph(&["run", "-p", "x", "--max-iterations", "3"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("sending the last notification; press Ctrl-C") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended without a word");
    }
    assert_eq!(stage.run_file()["status"]["state"], "ended");
    let kinds: Vec<Value> = wait_for("the notifications of the command", || {
        let seen = received(&stage);
        (seen.len() == 2).then(|| seen.iter().map(|seen| seen["event"].clone()).collect())
    });
    assert_eq!(kinds, ["warning", "ended"]);
    let signalled = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    // Requests and retries would take 35 seconds.
    assert!(signalled.elapsed() < Duration::from_secs(20));
    drop(listener);
}

#[test]
fn a_missing_key_is_an_error_before_the_run_starts() {
    let stage = with_notify(
        &says("LOOP_COMPLETE"),
        "  webhook: http://127.0.0.1:9/\n  webhook_secret_env: HOOK_KEY",
    );
    for command in [
        &["run", "-p", "x"][..],
        &["run", "-p", "x", "--detach"],
        &["notify", "test"],
    ] {
        let ran = Ran::of(&stage.ralph(command).output().unwrap());
        assert_eq!(ran.code, Some(78), "{ran:?}");
        assert!(
            ran.stderr
                .contains("the environment variable `HOOK_KEY` is not set"),
            "{}",
            ran.stderr
        );
    }
    assert!(stage.runs().is_empty());
}

#[test]
fn notify_test_reports_each_channel() {
    let stage = with_notify(
        &says("LOOP_COMPLETE"),
        "  bell: true\n  desktop: true\n  command: cat > seen",
    );
    // Without a terminal and without a desktop.
    let ran = Ran::of(
        &stage
            .ralph(&["notify", "test"])
            .env("PATH", format!("{}:/usr/bin:/bin", stage.path("home").display()))
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].starts_with("desktop: failed: "), "{lines:?}");
    assert_eq!(lines[2], "command: sent");
    let [seen] = received(&stage).try_into().unwrap();
    assert_eq!(seen["event"], "test");
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let ran = Ran::of(&stage.ralph(&["notify", "test"]).output().unwrap());
    assert_eq!(ran.code, Some(78), "{ran:?}");
    assert!(
        ran.stderr.contains("no notifications are configured"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_untrusted_file_runs_no_command_and_sends_nothing() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let (url, requests) = serve(&[OK]);
    stage.write_settings(&format!(
        "notify:\n  command: touch seen\n  webhook: {url}\n  desktop: true\n  bell: true\n  on: [ended]\n"
    ));
    let ran = Ran::of(&stage.ralph(&["notify", "test"]).output().unwrap());
    assert!(
        ran.stderr
            .contains("left out: notify.command, notify.webhook, notify.desktop"),
        "{}",
        ran.stderr
    );
    assert!(!stage.workspace().join("seen").exists());
    assert_eq!(requests.try_iter().count(), 0);
    assert!(ran.stdout.starts_with("bell: "), "{}", ran.stdout);
}
