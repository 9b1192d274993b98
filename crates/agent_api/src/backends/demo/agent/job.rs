//! The show: what the agent says and does, in order.
//!
//! The first run repairs what it sees, believes itself and says that all is done, though the check fails. The next one
//! runs the check, and is right. That is what a loop with a verification is for.

use serde_json::json;

use super::props::{CHECK, GREETINGS, NO_NAME, Progress, Props, SCRIPT, TYPO};
use super::stage::{Played, Stage, Stop};

/// The last line of a text that says that all is done.
const PROMISE: &str = "LOOP_COMPLETE";
const TRY: &str = "cd ralph-demo && sh greet.sh Ralph";
const VERIFY: &str = "sh ralph-demo/check.sh";

impl Stage {
    /// Does the job, as far as it has come.
    pub(super) fn work(&mut self) -> Played {
        let (props, progress) = Props::survey(&self.cwd).map_err(Stop::Stuck)?;
        match progress {
            Progress::Broken => self.repair(&props),
            Progress::Flawed => self.repair_again(&props),
            Progress::Finished => self.confirm(),
        }
    }

    /// Answers a message that is not the first.
    pub(super) fn chat(&mut self) -> Played {
        let (_, progress) = Props::survey(&self.cwd).map_err(Stop::Stuck)?;
        let state = match progress {
            Progress::Broken => "The script in `ralph-demo/` does not run yet.",
            Progress::Flawed => "The script in `ralph-demo/` runs, but nobody has run the check since.",
            Progress::Finished => "The script in `ralph-demo/` is finished.",
        };
        self.conclude(&format!(
            "Thanks, I have read your message. I am a scripted demo without a model, so I can only tell you how things \
             stand. {state}"
        ))
    }

    fn repair(&mut self, props: &Props) -> Played {
        let steps = [
            ("Read the script", "Reading the script"),
            ("Make it run", "Making it run"),
            ("Try it", "Trying it"),
        ];
        self.begin_message()?;
        self.think(
            "There is a small project in ralph-demo: a script that greets somebody, and a check. I should look at the \
             script before I change it, and try it before I say that it works.",
        )?;
        self.plan(
            "I'll look at the greeting script in `ralph-demo/` and make it work.",
            &steps,
            0,
        )?;
        self.read_file("", props, SCRIPT)?;
        self.plan("", &steps, 1)?;
        if self.command("Let me see what it does.", TRY, "Greet Ralph")? {
            return Err(Stop::Stuck(
                "The script works although it should not. Remove `ralph-demo/`.".to_owned(),
            ));
        }
        self.edit_file(
            "It fails: the last line has a typo, `$nmae`.",
            props,
            SCRIPT,
            TYPO,
        )?;
        self.choose_greeting(props)?;
        self.plan("", &steps, 2)?;
        let does_run = self.command("Again, with the typo gone.", TRY, "Greet Ralph")?;
        if !does_run {
            return Err(Stop::Stuck("It still fails, and I do not know why.".to_owned()));
        }
        self.plan("", &steps, 3)?;
        self.conclude(&format!(
            "`greet.sh` works now: it greets Ralph. I fixed a typo in its last line.\n\n{PROMISE}"
        ))
    }

    /// Only where somebody can answer.
    fn choose_greeting(&mut self, props: &Props) -> Played {
        if !self.arguments.has_host {
            return Ok(());
        }
        let options = json!([
            {"label": GREETINGS[0], "description": "Short and friendly"},
            {"label": GREETINGS[1], "description": "A little more formal"},
        ]);
        let answer = self.ask(
            "One question before I go on.",
            "How should the script greet people?",
            &options,
        )?;
        match answer.and_then(|answer| GREETINGS.into_iter().find(|known| *known == answer)) {
            Some(greeting) if greeting != GREETINGS[0] => {
                let change = (
                    format!("greeting=\"{}\"", GREETINGS[0]),
                    format!("greeting=\"{greeting}\""),
                );
                let words = format!("\"{greeting}\" it is.");
                self.edit_file(&words, props, SCRIPT, (&change.0, &change.1))
            }
            _ => Ok(()),
        }
    }

    fn repair_again(&mut self, props: &Props) -> Played {
        let steps = [
            ("Run the check", "Running the check"),
            ("Repair what it finds", "Repairing what it finds"),
            ("Run it again", "Running it again"),
        ];
        self.begin_message()?;
        self.think(
            "The script was said to work, but saying so proves nothing. The check knows all that is expected; I should \
             run it, and not my own idea of it.",
        )?;
        self.plan("This time I'll go by the check.", &steps, 0)?;
        self.read_file("", props, CHECK)?;
        if self.command("", VERIFY, "Run the check")? {
            return Err(Stop::Stuck(
                "The check passes although it should not. Remove `ralph-demo/`.".to_owned(),
            ));
        }
        self.plan(
            "It fails when nobody is named: `set -u` makes the missing `$1` an error.",
            &steps,
            1,
        )?;
        self.edit_file("A default will do.", props, SCRIPT, NO_NAME)?;
        self.plan("", &steps, 2)?;
        if !self.command("", VERIFY, "Run the check again")? {
            return Err(Stop::Stuck("It still fails, and I do not know why.".to_owned()));
        }
        self.plan("", &steps, 3)?;
        self.conclude(&format!(
            "The check passes: `greet.sh` greets Ralph, people with two names, and the world if nobody is named.\n\n\
             {PROMISE}"
        ))
    }

    fn confirm(&mut self) -> Played {
        if !self.command(
            "I'll see whether anything is left to do.",
            VERIFY,
            "Run the check",
        )? {
            return Err(Stop::Stuck(
                "The check fails although the script is as I left it. Remove `ralph-demo/` to start over."
                    .to_owned(),
            ));
        }
        self.conclude(&format!(
            "Everything is done and the check passes. Remove `ralph-demo/` to see the show again.\n\n{PROMISE}"
        ))
    }

    /// The last words of a turn.
    pub(super) fn conclude(&mut self, text: &str) -> Played {
        self.begin_message()?;
        self.say(text)?;
        self.end_message("end_turn")
    }
}
