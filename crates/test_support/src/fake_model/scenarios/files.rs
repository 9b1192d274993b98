//! The file tools, on the files of the workspace in `real_cli`.

use super::table::Scenario;
use super::turn::Turn;
use crate::fake_model::message::{Answer, Block, Message};
use serde_json::{Value, json};

pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("read", |turn| match turn.step {
        0 => [Block::text("Reading the file."), read(turn, "hello.txt")].into(),
        _ => [Block::text("The file says hello.")].into(),
    }),
    ("readmissing", |turn| match turn.step {
        0 => [read(turn, "does-not-exist.txt")].into(),
        _ => [Block::text("The file is missing.")].into(),
    }),
    ("readimage", |turn| match turn.step {
        0 => [read(turn, "pixel.png")].into(),
        _ => [Block::text("It is a small image.")].into(),
    }),
    ("bigread", |turn| match turn.step {
        0 => [read(turn, "big.txt")].into(),
        _ => [Block::text("Read the big file.")].into(),
    }),
    ("write", |turn| match turn.step {
        0 => [
            Block::text("Writing."),
            write(turn, "new_file.txt", "line one\nline two\nline three\n"),
        ]
        .into(),
        _ => [Block::text("Wrote new_file.txt.")].into(),
    }),
    ("overwrite", |turn| match turn.step {
        0 => [read(turn, "hello.txt")].into(),
        1 => [write(turn, "hello.txt", "all new\nsecond line\n")].into(),
        _ => [Block::text("Overwrote hello.txt.")].into(),
    }),
    ("edit", |turn| match turn.step {
        0 => [read(turn, "hello.txt")].into(),
        1 => [
            Block::text("Editing."),
            edit(
                turn,
                "hello.txt",
                json!({"old_string": "second line", "new_string": "SECOND LINE (edited)"}),
            ),
        ]
        .into(),
        _ => [Block::text("Edited hello.txt.")].into(),
    }),
    ("multiedit", |turn| match turn.step {
        0 => [read(turn, "many.txt")].into(),
        1 => [edit(
            turn,
            "many.txt",
            json!({"old_string": "foo", "new_string": "bar", "replace_all": true}),
        )]
        .into(),
        _ => [Block::text("Replaced all.")].into(),
    }),
    ("editfail", |turn| match turn.step {
        0 => [edit(
            turn,
            "hello.txt",
            json!({"old_string": "no such text", "new_string": "x"}),
        )]
        .into(),
        _ => [Block::text("The edit failed.")].into(),
    }),
    ("notebook", |turn| {
        match turn.step {
        0 => [read(turn, "nb.ipynb")].into(),
        1 => [Block::tool(
            "NotebookEdit",
            json!({"notebook_path": turn.path("nb.ipynb"), "cell_id": "cell-1", "new_source": "print('edited')"}),
        )]
        .into(),
        _ => [Block::text("Notebook edited.")].into(),
    }
    }),
    ("globgrep", |turn| match turn.step {
        0 => [
            Block::tool("Glob", json!({"pattern": "**/*.txt"})),
            Block::tool(
                "Grep",
                json!({"pattern": "second", "output_mode": "content", "-n": true}),
            ),
        ]
        .into(),
        _ => [Block::text("Searched.")].into(),
    }),
    ("bigwrite", big_write),
];

fn read(turn: &Turn<'_>, name: &str) -> Block {
    Block::tool("Read", json!({"file_path": turn.path(name)}))
}

fn write(turn: &Turn<'_>, name: &str, content: &str) -> Block {
    Block::tool("Write", json!({"file_path": turn.path(name), "content": content}))
}

fn edit(turn: &Turn<'_>, name: &str, change: Value) -> Block {
    let mut input = change;
    input["file_path"] = turn.path(name).into();
    Block::tool("Edit", input)
}

/// A tool call whose input is so long that the CLI's line is, too.
fn big_write(turn: &Turn<'_>) -> Answer {
    if turn.step > 0 {
        return [Block::text("Wrote the big file.")].into();
    }
    let content = super::talk::repeated("The quick brown fox. \n", turn.number_or(2 << 20));
    Message {
        delta_chars: 50_000,
        ..Message::new([write(turn, "bigwrite.txt", &content)])
    }
    .into()
}
