//! What is wrong in files, and where.

use proptest::prelude::{ProptestConfig, Strategy, prop_assert_eq, proptest};
use proptest::sample::select;
use ralph_tasks::{Backlog, FieldValue, Status, parse_task, replace_body, set_field};

use crate::stage::{backlog, id, messages};

fn problems(text: &str) -> Vec<String> {
    let parsed = parse_task("t.md", text);
    parsed.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_task_is_read() {
    let text = "---\nid: k3f9a\ntitle: 'Parse: dates'\nstatus: blocked\nblocked_reason: no answer\nparent: 00001\n\
                depends_on: [abcde, 12345]\npriority: 0\ntouches:\n  - src/**\nverify: make test\nmode: coder\n\
                limits: {max_cost_usd: 2.50, max_iterations: 3, max_runtime_seconds: 1h}\nagent: worker\n---\n\n# Body\n";
    let parsed = parse_task("ralph/tasks/k3f9a-dates.md", text);
    assert_eq!(parsed.problems, []);
    let task = parsed.task.unwrap();
    assert_eq!(task.id, id("k3f9a"));
    assert_eq!(
        (task.title.as_str(), task.status),
        ("Parse: dates", Status::Blocked)
    );
    assert_eq!(task.blocked_reason.as_deref(), Some("no answer"));
    assert_eq!(task.parent.unwrap().id, id("00001"));
    assert_eq!(task.depends_on[1].id, id("12345"));
    assert_eq!(task.depends_on[1].at.line, 7);
    assert_eq!(
        (task.priority, task.touches.as_slice()),
        (0, ["src/**".to_owned()].as_slice())
    );
    assert_eq!(task.permissions.verify, ["make test"]);
    assert_eq!(task.permissions.limits.cost.unwrap().as_micro_usd(), 2_500_000);
    assert_eq!(task.permissions.limits.runtime.unwrap().as_secs(), 3600);
    assert_eq!(task.body, "# Body");
}

#[test]
fn every_mistake_has_its_line() {
    let text = "---\nid: k3f9\ntitle: T\nstatus: doing\nstaus: todo\npriority: 7\ntouches: [/etc]\ndepends_on: [x, abcde, abcde]\n\
                limits:\n  max_cost: 1\n  max_iterations: many\n---\n";
    insta::assert_snapshot!(problems(text).join("\n"), @r"
    t.md:5:1: warning: unknown field `staus`, did you mean `status`?
    t.md:2:5: `id` must be a task id (five characters such as `k3f9a`), not `k3f9`
    t.md:4:9: `status` must be one of todo, blocked, done, not `doing`; ralph keeps what is being worked on in its state directory
    t.md:8:14: `depends_on` must be a task id (five characters such as `k3f9a`), not `x`
    t.md:8:24: warning: `depends_on` names `abcde` twice
    t.md:6:11: `priority` must be a number from 0 (most urgent) to 4, not `7`
    t.md:7:11: `touches`: `/etc` must be relative to the top of the repository, as in `src/parser/**`
    t.md:10:3: warning: unknown field `limits.max_cost`, did you mean `limits.max_cost_usd`?
    t.md:11:19: `limits.max_iterations` must be a whole number such as 50, not `many`
    ");
}

#[test]
fn broken_front_matter_is_one_problem_with_a_line() {
    for (text, expected) in [
        (
            "",
            "t.md:1:1: the front matter is missing: the first line must be `---`",
        ),
        (
            "# Title\n",
            "t.md:1:1: the front matter is missing: the first line must be `---`",
        ),
        (
            "---\nid: k3f9a\n",
            "t.md:1:1: the front matter has no end: add a line `---` after its last field",
        ),
        (
            "---\nid: k3f9a\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> b\n---\n",
            "t.md:3:1: unresolved merge conflict: keep one side and remove the markers",
        ),
        (
            "---\n- a\n---\n",
            "t.md:2:1: the front matter must be a mapping (`key: value`), not a list",
        ),
        (
            "---\nid: k3f9a\nid: k3f9a\n---\n",
            "t.md:3:1: `id` is given twice",
        ),
    ] {
        assert_eq!(problems(text), [expected], "{text:?}");
    }
    let unclosed = problems("---\nid: k3f9a\ntitle: \"A\n---\n");
    assert!(unclosed[0].contains("not YAML"), "{unclosed:?}");
    assert_eq!(
        problems("---\n---\n"),
        ["t.md:1:1: `id` is missing", "t.md:1:1: `title` is missing"]
    );
}

#[test]
fn a_conflict_in_the_body_is_an_error_and_a_heading_is_none() {
    let text = "---\nid: k3f9a\ntitle: T\n---\nTitle\n=======\n<<<<<<< HEAD\n";
    assert_eq!(
        problems(text),
        ["t.md:7:1: unresolved merge conflict: keep one side and remove the markers"]
    );
}

#[test]
fn globs_that_are_separated_by_a_comma_are_noticed() {
    let text = |touches: &str| format!("---\nid: k3f9a\ntitle: T\ntouches: {touches}\n---\n");
    assert_eq!(
        problems(&text("src/**, docs/**")),
        [
            "t.md:4:10: warning: this is one glob with a comma in it; write several as a list: `[src/**, docs/**]`"
        ]
    );
    assert_eq!(problems(&text("[src/**, docs/**]")), Vec::<String>::new());
    assert_eq!(problems(&text("\"{src, docs}/**\"")), Vec::<String>::new());
}

#[test]
fn any_text_can_be_read_without_a_panic() {
    for text in [
        "---",
        "---\n",
        "\u{feff}---\r\nid: k3f9a\r\ntitle: T\r\n---\r\n",
        "---\n\u{0}\n---\n",
        "---\n&a *a\n---",
    ] {
        let _ = parse_task("t.md", text);
    }
    let windows = parse_task("t.md", "\u{feff}---\r\nid: k3f9a\r\ntitle: T\r\n---\r\nBody\r\n");
    assert_eq!(windows.task.unwrap().title, "T");
}

#[test]
fn duplicate_and_unknown_ids_are_found() {
    let text = |id: &str, rest: &str| format!("---\nid: {id}\ntitle: T\n{rest}---\n");
    let backlog = Backlog::new([
        parse_task("a.md", &text("aaaaa", "")),
        parse_task("b.md", &text("aaaaa", "")),
        parse_task(
            "c.md",
            &text("ccccc", "parent: zzzzz\ndepends_on: [aaaaa, ccccc]\n"),
        ),
        parse_task("ddddd-x.md", "broken"),
        parse_task("e.md", &text("eeeee", "depends_on: [ddddd]\n")),
    ]);
    insta::assert_snapshot!(messages(&backlog).join("\n"), @r"
    a.md:2:5: `aaaaa` is also the id of `b.md`; give one of them another id
    b.md:2:5: `aaaaa` is also the id of `a.md`; give one of them another id
    c.md:4:9: `parent` names `zzzzz`, but there is no such task
    c.md:5:14: `depends_on` names `aaaaa`, but `b.md` has errors
    c.md:5:21: these tasks wait for each other: ccccc → ccccc
    ddddd-x.md:1:1: the front matter is missing: the first line must be `---`
    e.md:4:14: `depends_on` names `ddddd`, but `ddddd-x.md` has errors
    ");
}

#[test]
fn cycles_are_found_over_dependencies_and_parents() {
    for (tasks, expected) in [
        (
            &[("aaaaa", "depends_on: [bbbbb]"), ("bbbbb", "depends_on: [aaaaa]")][..],
            "these tasks wait for each other: aaaaa → bbbbb → aaaaa",
        ),
        (
            &[("aaaaa", "parent: bbbbb"), ("bbbbb", "parent: aaaaa")],
            "a task is its own ancestor: aaaaa → bbbbb → aaaaa",
        ),
        // A child begins after what its parent waits for, and the parent ends after its child.
        (
            &[("aaaaa", ""), ("bbbbb", "parent: aaaaa\ndepends_on: [aaaaa]")],
            "these tasks wait for each other",
        ),
        (
            &[
                ("aaaaa", "depends_on: [ccccc]"),
                ("bbbbb", "parent: aaaaa"),
                ("ccccc", "depends_on: [bbbbb]"),
            ],
            "these tasks wait for each other",
        ),
    ] {
        let backlog = backlog(tasks);
        let found = messages(&backlog);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(expected), "{found:?}");
    }
    let two = backlog(&[
        ("aaaaa", "depends_on: [bbbbb, ccccc]"),
        ("bbbbb", "depends_on: [aaaaa]"),
        ("ccccc", "depends_on: [ddddd]"),
        ("ddddd", "depends_on: [ccccc]"),
    ]);
    assert_eq!(messages(&two).len(), 2, "{:?}", messages(&two));
    let innocent = backlog(&[
        ("aaaaa", "depends_on: [xxxxx]"),
        ("bbbbb", "parent: aaaaa\ndepends_on: [aaaaa]"),
        ("xxxxx", ""),
    ]);
    insta::assert_snapshot!(messages(&innocent).join("\n"), @"ralph/tasks/bbbbb.md:5:14: these tasks wait for each other: bbbbb → aaaaa → bbbbb");
    let fine = backlog(&[
        ("aaaaa", ""),
        ("bbbbb", "parent: aaaaa"),
        ("ccccc", "parent: aaaaa\ndepends_on: [bbbbb]"),
        ("ddddd", "depends_on: [aaaaa, ccccc]"),
    ]);
    assert_eq!(messages(&fine), Vec::<String>::new());
}

#[test]
fn a_chain_of_thousands_of_tasks_is_checked_without_recursion() {
    let name = |number: u32| format!("{number:05}");
    let files = (0..5_000_u32).map(|number| {
        let text = format!(
            "---\nid: {}\ntitle: T\ndepends_on: [{}]\n---\n",
            name(number),
            name((number + 1) % 5_000)
        );
        parse_task(&format!("{}.md", name(number)), &text)
    });
    let backlog = Backlog::new(files);
    assert_eq!(backlog.problems().len(), 1);
}

#[test]
fn tasks_are_found_by_a_unique_beginning() {
    let backlog = backlog(&[("k3f9a", ""), ("k3zzz", ""), ("abcde", "")]);
    assert_eq!(backlog.find("K3F").unwrap().id, id("k3f9a"));
    assert_eq!(backlog.find("abcde").unwrap().id, id("abcde"));
    insta::assert_snapshot!(backlog.find("k3").unwrap_err(), @"`k3` is the beginning of several task ids: k3f9a, k3zzz");
    let broken = Backlog::new([parse_task("k3f9a-x.md", "broken")]);
    insta::assert_snapshot!(broken.find("k3").unwrap_err(), @"`k3f9a-x.md` has errors, so k3f9a cannot be used; `ralph tasks check` shows them");
    insta::assert_snapshot!(backlog.find("q").unwrap_err(), @"there is no task `q`; `ralph tasks` lists them");
}

/// Pieces of task files in any order.
fn scraps() -> impl Strategy<Value = String> {
    let pieces = [
        "---\n",
        "id: k3f9a\n",
        "title: T\n",
        "title: ",
        "status: todo # x\n",
        "depends_on:\n  - abcde\n",
        "touches: [",
        "]",
        "{",
        "}",
        "\"",
        "'",
        ": ",
        "- a\n",
        "\t",
        "&a ",
        "*a",
        "# c\n",
        "\n",
        "\r\n",
        "<<<<<<< a\n",
        "é",
        "\u{0}",
        "|\n",
        "? ",
    ];
    proptest::collection::vec(select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_in_a_file_it_is_read_and_changed_without_a_panic(scraps in scraps(), has_head in proptest::bool::ANY) {
        let head = if has_head { "---\nid: k3f9a\ntitle: T\n" } else { "" };
        let text = format!("{head}{scraps}");
        let before = parse_task("t.md", &text);
        let _ = replace_body(&text, "Other.");
        if let Ok(changed) = set_field(&text, "status", &FieldValue::Text("done".to_owned())) {
            let after = parse_task("t.md", &changed).task;
            if let (Some(before), Some(after)) = (before.task, after) {
                prop_assert_eq!(after.status, Status::Done);
                prop_assert_eq!((after.title, after.body, after.depends_on.len()), (before.title, before.body, before.depends_on.len()));
            }
        }
    }
}
