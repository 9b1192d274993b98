//! Readers that go away, and readers that wait.

use std::io::{self, Write};

use agent_api::Part;
use ralph::console::{Mode, Options};

use crate::stage::{Paper, Stage, delta, text};
use crate::story::play;

/// A pipe whose reader leaves after so many bytes.
struct Head {
    left: usize,
    taken: Paper,
}

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.taken.write(&bytes[..taken])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_leaves_is_noticed_wherever_it_does() {
    let mut whole = Stage::new(Options::piped(Mode::Verbose));
    play(&mut whole);
    let (out, _) = whole.finish();
    for left in 0..=out.len() {
        let taken = Paper::default();
        let head = Head {
            left,
            taken: taken.clone(),
        };
        let mut stage = Stage::on(Options::piped(Mode::Verbose), head, Paper::default());
        assert!(!stage.console.is_closed());
        play(&mut stage);
        assert_eq!(stage.console.is_closed(), left < out.len(), "{left}");
        stage.console.finish();
        assert_eq!(taken.bytes(), &out.as_bytes()[..left]);
    }
}

#[test]
fn a_line_of_a_text_is_shown_as_soon_as_it_ends_and_only_once() {
    let mut stage = Stage::new(Options::piped(Mode::Default));
    stage.begin(1);
    let before = stage.out.text().len();
    for (piece, shown) in [
        ("one", ""),
        (" two\n", "Claude: one two\n"),
        ("\n", "Claude: one two\n"),
        ("three", "Claude: one two\n\n"),
        ("\n  \n", "Claude: one two\n\nthree\n"),
    ] {
        stage
            .console
            .delta(&crate::stage::event(delta("1", Part::Text, piece)));
        assert_eq!(&stage.out.text()[before..], shown, "after {piece:?}");
    }
    stage.agent(text("1", "one two\n\nthree\n  \n"));
    stage.agent(text("2", "four\n"));
    assert_eq!(
        &stage.out.text()[before..],
        "Claude: one two\n\nthree\nClaude: four\n"
    );
}
