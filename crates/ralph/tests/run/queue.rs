//! `ralph queue`: messages that wait, and what becomes of them.

use serde_json::Value;

use crate::sessions::{Talk, talks};

/// Has the agent busy and these messages wait. Gives their ids.
fn queued<const N: usize>(talk: &Talk, texts: [&str; N]) -> [String; N] {
    talk.wait_for("text_block", 1);
    for text in texts {
        let sent = talk.ralph(&["send", "latest", "--queue", text]);
        assert_eq!(sent.code, Some(0), "{sent:?}");
    }
    let listed = listed(talk);
    std::array::from_fn(|place| listed[place]["id"].as_str().unwrap().to_owned())
}

fn listed(talk: &Talk) -> Vec<Value> {
    let ran = talk.ralph(&["queue", "latest", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).unwrap()
}

fn states(talk: &Talk) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let listed = listed(talk);
    let pairs = listed
        .iter()
        .map(|message| (word(&message["text"]), word(&message["state"])));
    pairs.collect()
}

#[track_caller]
fn assert_states(talk: &Talk, expected: &[(&str, &str)]) {
    let states = states(talk);
    let states: Vec<(&str, &str)> = states.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(states, expected);
}

/// What a command that fails says.
#[track_caller]
fn failure(talk: &Talk, args: &[&str]) -> String {
    let ran = talk.ralph(args);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    ran.stderr
}

#[test]
fn queued_messages_are_listed_edited_and_withdrawn() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    talk.wait_for("text_block", 1);
    let none = talk.ralph(&["queue"]);
    assert!(none.stdout.ends_with("has no messages\n"), "{none:?}");
    let [one, two, three] = queued(&talk, ["one", "two\n\nand more", "three"]);

    let shown = talk.ralph(&["queue", "latest"]).stdout;
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|row| row.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows,
        [
            vec!["MESSAGE", "MODE", "STATE", "TEXT"],
            vec![&one, "queue", "queued", "one"],
            vec![&two, "queue", "queued", "two", "…"],
            vec![&three, "queue", "queued", "three"],
        ]
    );

    let run = talk.stage.last_run();
    let run = run.file_name().unwrap().to_str().unwrap();
    // The start of an id is enough.
    let changed = talk.ralph(&["queue", "edit", "latest", &one[..13], "uno"]);
    assert_eq!(changed.stdout, format!("edited message {one} of run {run}\n"));
    let withdrawn = talk.ralph(&["queue", "withdraw", run, &two]);
    assert_eq!(withdrawn.stdout, format!("withdrew message {two} of run {run}\n"));
    assert_states(
        &talk,
        &[
            ("uno", "queued"),
            ("two\n\nand more", "withdrawn"),
            ("three", "queued"),
        ],
    );

    talk.ralph(&["interrupt", "latest"]);
    talk.idle(3);
    let blocks = talk.of_kind("text_block");
    let said: Vec<&Value> = blocks.iter().map(|block| &block["text"]).collect();
    assert_eq!(said, ["Working.", "You said uno.", "You said three."]);
    assert_states(
        &talk,
        &[
            ("uno", "delivered"),
            ("two\n\nand more", "withdrawn"),
            ("three", "delivered"),
        ],
    );
    talk.end();
}

#[test]
fn a_message_that_cannot_be_changed_is_explained() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    let [one, two] = queued(&talk, ["one", "two"]);
    let unknown = failure(&talk, &["queue", "withdraw", "latest", "nope"]);
    assert!(
        unknown.contains(&format!(
            "has no message `nope`, or it was withdrawn; queued messages: {one} (one), {two} (two)"
        )),
        "{unknown}"
    );
    talk.ralph(&["queue", "withdraw", "latest", &one]);
    let twice = failure(&talk, &["queue", "withdraw", "latest", &one]);
    assert!(
        twice.contains(&format!("queued messages: {two} (two)")),
        "{twice}"
    );
    let empty = failure(&talk, &["queue", "edit", "latest", &two, " "]);
    assert!(empty.contains("an empty message"), "{empty}");

    talk.ralph(&["interrupt", "latest"]);
    talk.idle(2);
    let given = failure(&talk, &["queue", "edit", "latest", &two, "dos"]);
    assert!(given.contains("was already sent to the agent"), "{given}");
    let none = failure(&talk, &["queue", "edit", "latest", "nope", "x"]);
    assert!(none.contains("no messages are queued"), "{none}");

    talk.end();
    for args in [
        &["queue", "edit", "latest", &two, "dos"][..],
        &["queue", "withdraw", "latest", &two],
    ] {
        let over = failure(&talk, args);
        assert!(over.contains("(completed)"), "{over}");
    }
}

#[test]
fn messages_still_queued_at_the_end_are_listed_as_lost() {
    let talk = Talk::start(&talks(), &["-p", "slow"]);
    queued(&talk, ["too late"]);
    talk.end();
    assert_states(&talk, &[("too late", "lost")]);
}
