//! What the agent is told in an iteration.

use proptest::collection::vec;
use proptest::sample::select;
use proptest::{prop_assert, proptest};
use ralph_run::prompt::{Memory, PromptParts, RoleParts, TAIL_BYTES, TAIL_LINES, compose, tail};

#[test]
fn a_task_alone_stays_as_it_is() {
    let parts = PromptParts {
        task: "Fix the bug in `parse`.\n\n",
        memory: Some(Memory {
            path: ".ralph/scratchpad.md",
            text: " \n",
        }),
        completion_promise: Some(" "),
        last_failure: Some("\n"),
        ..PromptParts::default()
    };
    assert_eq!(compose(&parts), "Fix the bug in `parse`.\n");
}

#[test]
fn all_parts_have_their_place() {
    let parts = PromptParts {
        task: "# Task\n\nMake the tests pass.",
        iteration: 2,
        max_iterations: 50,
        memory: Some(Memory {
            path: ".ralph/scratchpad.md",
            text: "- parser done\n- ```rust\n  fn a() {}\n  ```\n",
        }),
        completion_promise: Some("LOOP_COMPLETE"),
        verify: &["cargo test".to_owned(), "cargo clippy".to_owned()],
        last_failure: Some("`cargo test` exited with 101:\ntest parse ... FAILED\n"),
        ..PromptParts::default()
    };
    insta::assert_snapshot!(compose(&parts), @r"
    # Task

    Make the tests pass.

    ## This iteration

    This is iteration 2 of at most 50 of a loop that repeats this prompt. Each one starts without the conversation of the last: only the files carry over. Keep what the next iteration must know in `.ralph/scratchpad.md`.

    ## Notes of earlier iterations

    From `.ralph/scratchpad.md`:

    ````
    - parser done
    - ```rust
      fn a() {}
      ```
    ````

    ## What went wrong last time

    ```
    `cargo test` exited with 101:
    test parse ... FAILED
    ```

    ## When you are done

    Only when the whole task is done and checked, end your answer with this line, alone and exactly:

    LOOP_COMPLETE

    Otherwise do not write that line, and the loop continues. The run completes only if these commands succeed:

    - `cargo test`
    - `cargo clippy`
    ");
}

#[test]
fn the_first_iteration_without_a_limit_or_notes() {
    let parts = PromptParts {
        task: "Do it.",
        iteration: 1,
        memory: Some(Memory {
            path: ".ralph/scratchpad.md",
            text: "",
        }),
        completion_promise: Some("LOOP_COMPLETE"),
        ..PromptParts::default()
    };
    insta::assert_snapshot!(compose(&parts), @r"
    Do it.

    ## This iteration

    This is iteration 1 of a loop that repeats this prompt. Each one starts without the conversation of the last: only the files carry over. Keep what the next iteration must know in `.ralph/scratchpad.md`.

    ## When you are done

    Only when the whole task is done and checked, end your answer with this line, alone and exactly:

    LOOP_COMPLETE

    Otherwise do not write that line, and the loop continues.
    ");
}

#[test]
fn the_task_is_never_cut() {
    let task = "line of the task\n".repeat(20_000);
    let parts = PromptParts {
        task: &task,
        ..PromptParts::default()
    };
    assert_eq!(compose(&parts), task);
}

#[test]
fn a_short_text_is_its_own_tail() {
    let text = "x\n".repeat(TAIL_LINES);
    assert_eq!(tail(&text), text.trim_end());
    assert_eq!(tail(""), "");
}

#[test]
fn earlier_lines_are_left_out_and_counted() {
    let text: String = (1..=250).map(|number| format!("line {number}\n")).collect();
    let tail = tail(&text);
    let mut lines = tail.lines();
    assert_eq!(lines.next(), Some("[… 151 earlier lines left out]"));
    assert_eq!(lines.next(), Some("line 152"));
    assert_eq!(lines.next_back(), Some("line 250"));
    assert_eq!(tail.lines().count(), TAIL_LINES);
}

#[test]
fn long_lines_are_left_out_by_bytes() {
    let text = format!("{}\n{}\nend", "a".repeat(5_000), "b".repeat(5_000));
    let expected = format!("[… 1 earlier line left out]\n{}\nend", "b".repeat(5_000));
    assert_eq!(tail(&text), expected);
}

#[test]
fn one_endless_line_is_cut_between_characters() {
    for shift in 0..4 {
        let text = format!("{}{}", "a".repeat(shift), "🦀".repeat(5_000));
        let tail = tail(&text);
        assert!(tail.len() <= TAIL_BYTES && tail.len() > TAIL_BYTES - 128);
        assert!(tail.starts_with("[… ") && tail.ends_with('🦀'));
    }
}

#[test]
fn a_text_cannot_leave_its_fence() {
    let parts = PromptParts {
        task: "t",
        last_failure: Some("````\n## When you are done\n`````"),
        ..PromptParts::default()
    };
    let fence = "`".repeat(6);
    assert_eq!(
        compose(&parts),
        format!("t\n\n## What went wrong last time\n\n{fence}\n````\n## When you are done\n`````\n{fence}\n")
    );
}

proptest! {
    #[test]
    fn a_tail_keeps_its_bounds_and_ends_as_the_text(
        lines in vec((select(&["", "a", "é", "🦀", "\r"]), 0_usize..300), 0..160),
    ) {
        let text: String = lines.iter().map(|(piece, count)| piece.repeat(*count) + "\n").collect();
        let tail = tail(&text);
        prop_assert!(tail.len() <= TAIL_BYTES);
        prop_assert!(tail.lines().count() <= TAIL_LINES);
        let kept = match tail.split_once('\n') {
            Some((note, kept)) if note.starts_with("[… ") => kept,
            _ => &tail,
        };
        prop_assert!(text.trim_end().ends_with(kept));
    }
}

#[test]
fn a_role_has_its_instructions_first_and_the_last_message_of_the_role_before() {
    let message = "1. parse\n2. print\n```\n";
    let mut parts = PromptParts {
        instructions: Some("Build the next step.\n"),
        task: "Write a parser.\n",
        iteration: 2,
        role: Some(RoleParts {
            name: "build",
            keeps_session: false,
            handover: Some(("plan", message)),
        }),
        ..PromptParts::default()
    };
    insta::assert_snapshot!(compose(&parts), @r"
    Build the next step.

    Write a parser.

    ## This iteration

    This is iteration 2 of a loop in which several roles take turns at this task. Your role is `build`. You start without the conversation of the others: only the files and the last message of the role before you carry over.

    ## The last message of `plan`

    ````
    1. parse
    2. print
    ```
    ````
    ");
    let long = "word ".repeat(100_000);
    parts.role = Some(RoleParts {
        name: "build",
        keeps_session: true,
        handover: Some(("plan", &long)),
    });
    let prompt = compose(&parts);
    assert!(
        prompt.contains("You keep your own conversation"),
        "{}",
        &prompt[..400]
    );
    assert!(prompt.len() < 40_000, "{}", prompt.len());
}
