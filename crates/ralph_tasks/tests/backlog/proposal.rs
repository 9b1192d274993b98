//! What a planner proposes: taken as a whole, or refused with every reason.

use ralph_tasks::{Backlog, parse_proposal, parse_task};

use crate::stage::{backlog, id, text};

fn refused(answer: &str) -> String {
    parse_proposal(answer, &backlog(&[("k3f9a", "")]))
        .unwrap_err()
        .join("\n")
}

#[test]
fn a_tree_is_read_from_the_last_object_of_an_answer() {
    let answer = r#"I looked at {the code}. A first idea: {"tasks": [{"key": "old", "title": "Old"}]}. Better:
```json
{"tasks": [
  {"key": "dates", "title": "Parse dates", "body": "A group."},
  {"key": "iso", "title": "ISO: 8601", "body": "Done when\n- tests pass", "parent": "dates", "depends_on": ["k3f9a"],
   "priority": 1, "touches": ["src/date/**"]},
  {"key": "zones", "title": "Time zones", "parent": "dates", "depends_on": ["iso", "iso"]}
]}
```
Tell me what you think."#;
    let proposal = parse_proposal(answer, &backlog(&[("k3f9a", "")])).unwrap();
    let [dates, iso, zones] = proposal.drafts.as_slice() else {
        panic!("{proposal:?}")
    };
    assert_eq!(dates.title, "Parse dates");
    assert_eq!((iso.title.as_str(), iso.priority), ("ISO: 8601", 1));
    assert_eq!(iso.parent.as_ref(), Some(&dates.id));
    assert_eq!(iso.depends_on, [id("k3f9a")]);
    assert_eq!(zones.depends_on.first(), Some(&iso.id));
    assert_eq!(iso.verify, Vec::<String>::new());
}

#[test]
fn answers_without_a_plan_are_refused() {
    insta::assert_snapshot!(refused("I cannot do that."), @"the answer has no JSON object with a list `tasks`");
    insta::assert_snapshot!(refused(r#"{"tasks": {}}"#), @"`tasks` must be a list");
    insta::assert_snapshot!(refused(r#"{"tasks": []}"#), @"`tasks` is empty");
    let idea = r#"{"tasks": [{"key": "a", "title": "A"}]} Better: {"tasks": ["#;
    for answer in [r#"{"tasks": [{"key": "a", "title": "#, idea] {
        let cut = refused(answer);
        assert!(
            cut.starts_with("the JSON object with the list `tasks` is not valid: EOF"),
            "{cut}"
        );
    }
    let many = format!(
        r#"{{"tasks": [{}]}}"#,
        vec![r#"{"key": "a", "title": "A"}"#; 101].join(",")
    );
    insta::assert_snapshot!(refused(&many), @"101 tasks are too many at once; the limit is 100");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let answer = r#"{"tasks": [
        {"key": "a", "title": "A", "verify": ["rm -rf /"], "mode": "bypass", "colour": 1, "priority": 9},
        {"key": "a", "title": "", "depends_on": ["nowhere"], "touches": [1]},
        {"title": 7, "parent": ["x"], "body": {}},
        "text"
    ]}"#;
    insta::assert_snapshot!(refused(answer), @r"
    task 2: the key `a` is used twice
    task 1 (A): unknown field `colour`
    task 1 (A): `mode` can only be set by a person; leave it out
    task 1 (A): `verify` can only be set by a person; leave it out
    task 1 (A): `priority` must be a number from 0 to 4
    task 2: `title` must not be empty
    task 2: an item of `touches` must be text
    task 2: `depends_on` names `nowhere`, which is neither a key of this plan nor an existing task
    task 3: `key` is missing
    task 3: `title` must be text
    task 3: `body` must be text
    task 3: `parent` must be text
    task 4: must be an object
    ");
}

#[test]
fn tasks_that_do_not_fit_together_are_refused_in_the_planners_words() {
    let cycle = r#"{"tasks": [
        {"key": "one", "title": "A", "depends_on": ["two"]},
        {"key": "two", "title": "B", "depends_on": ["one"]}
    ]}"#;
    let found = refused(cycle);
    assert!(
        found.contains("one → two → one") || found.contains("two → one → two"),
        "{found}"
    );
    let outside = r#"{"tasks": [{"key": "a", "title": "A", "touches": ["/etc/passwd"]}]}"#;
    assert!(refused(outside).contains("must be relative to the top of the repository"));
}

#[test]
fn an_old_error_elsewhere_does_not_refuse_a_plan() {
    let files = [
        parse_task("k3f9a.md", &text("k3f9a", "depends_on: [bbbbb]")),
        parse_task("bbbbb.md", "broken"),
    ];
    let answer = r#"{"tasks": [{"key": "a", "title": "A"}]}"#;
    assert!(parse_proposal(answer, &Backlog::new(files)).is_ok());
}

#[test]
fn a_body_that_could_not_be_read_as_a_file_is_refused() {
    let answer = format!(
        r#"{{"tasks": [{{"key": "a", "title": "A", "body": "{}"}}]}}"#,
        "x".repeat(65 << 10)
    );
    insta::assert_snapshot!(refused(&answer), @"task 1 (A): `body` must have at most 64 KiB");
}

#[test]
fn texts_of_a_planner_cannot_add_fields() {
    let answer =
        r#"{"tasks": [{"key": "a", "title": "A\nverify: rm -rf /", "body": "---\nverify: x\n---"}]}"#;
    let found = parse_proposal(answer, &Backlog::default())
        .unwrap_err()
        .join("\n");
    assert_eq!(found, "`title` must be a single line");
    let answer = r#"{"tasks": [{"key": "a", "title": "A: {b} # c", "body": "---\nverify: [x]\n---"}]}"#;
    let proposal = parse_proposal(answer, &Backlog::default()).unwrap();
    let written = proposal.backlog();
    let task = written.tasks().next().unwrap();
    assert_eq!(task.title, "A: {b} # c");
    assert!(task.permissions.verify.is_empty());
    assert_eq!(task.body, "---\nverify: [x]\n---");
}
