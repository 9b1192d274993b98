//! The script: the steps of the first, the second and every later run.
//!
//! The first run fixes what it notices and claims to be done, although the check fails. The second run starts with the
//! check and is right. This is what a loop that verifies the result is for.

use crate::demo_project::{
    CHECK_FILE, DemoProject, Edit, GREETINGS, Progress, SCRIPT_FILE, TYPO_FIX, UNSET_NAME_FIX, VERIFY_COMMAND,
};
use crate::session::{Result, Session, Stop};

const TRY_COMMAND: &str = "cd ralph-demo && sh greet.sh Ralph";

/// Pairs of a title and its active form.
type Todos = [(&'static str, &'static str); 3];

const FIRST_TODOS: Todos = [
    ("Read the script", "Reading the script"),
    ("Make it run", "Making it run"),
    ("Try it", "Trying it"),
];
const SECOND_TODOS: Todos = [
    ("Run the check", "Running the check"),
    ("Repair what it finds", "Repairing what it finds"),
    ("Run it again", "Running it again"),
];

/// Tool steps begin with the text that comes before the call; it may be empty.
enum Step {
    Think(&'static str),
    /// Writes the todo list, with the number of entries that are done.
    Todos(&'static str, &'static Todos, usize),
    Read(&'static str, &'static str),
    Edit(&'static str, Edit),
    Run(&'static str, Run),
    AskForGreeting,
    /// The last message.
    Say(&'static str),
}

struct Run {
    command: &'static str,
    description: &'static str,
    /// The task fails with `otherwise` if the command does not end like this.
    succeeds: bool,
    otherwise: &'static str,
}

const FIRST_RUN: &[Step] = &[
    Step::Think(
        "There is a small project in ralph-demo: a script that greets somebody, and a check. I should look at the \
         script before I change it, and try it before I say that it works.",
    ),
    Step::Todos(
        "I'll look at the greeting script in `ralph-demo/` and make it work.",
        &FIRST_TODOS,
        0,
    ),
    Step::Read("", SCRIPT_FILE),
    Step::Todos("", &FIRST_TODOS, 1),
    Step::Run(
        "Let me see what it does.",
        Run {
            command: TRY_COMMAND,
            description: "Greet Ralph",
            succeeds: false,
            otherwise: "The script works although it should not. Remove `ralph-demo/`.",
        },
    ),
    Step::Edit("It fails: the last line has a typo, `$nmae`.", TYPO_FIX),
    Step::AskForGreeting,
    Step::Todos("", &FIRST_TODOS, 2),
    Step::Run(
        "Again, with the typo gone.",
        Run {
            command: TRY_COMMAND,
            description: "Greet Ralph",
            succeeds: true,
            otherwise: "It still fails, and I do not know why.",
        },
    ),
    Step::Todos("", &FIRST_TODOS, 3),
    Step::Say("`greet.sh` works now: it greets Ralph. I fixed a typo in its last line.\n\nLOOP_COMPLETE"),
];

const SECOND_RUN: &[Step] = &[
    Step::Think(
        "The script was said to work, but saying so proves nothing. The check knows all that is expected; I should \
         run it, and not my own idea of it.",
    ),
    Step::Todos("This time I'll go by the check.", &SECOND_TODOS, 0),
    Step::Read("", CHECK_FILE),
    Step::Run(
        "",
        Run {
            command: VERIFY_COMMAND,
            description: "Run the check",
            succeeds: false,
            otherwise: "The check passes although it should not. Remove `ralph-demo/`.",
        },
    ),
    Step::Todos(
        "It fails when nobody is named: `set -u` makes the missing `$1` an error.",
        &SECOND_TODOS,
        1,
    ),
    Step::Edit("A default will do.", UNSET_NAME_FIX),
    Step::Todos("", &SECOND_TODOS, 2),
    Step::Run(
        "",
        Run {
            command: VERIFY_COMMAND,
            description: "Run the check again",
            succeeds: true,
            otherwise: "It still fails, and I do not know why.",
        },
    ),
    Step::Todos("", &SECOND_TODOS, 3),
    Step::Say(
        "The check passes: `greet.sh` greets Ralph, people with two names, and the world if nobody is named.\n\n\
         LOOP_COMPLETE",
    ),
];

const LATER_RUN: &[Step] = &[
    Step::Run(
        "I'll see whether anything is left to do.",
        Run {
            command: VERIFY_COMMAND,
            description: "Run the check",
            succeeds: true,
            otherwise: "The check fails although the script is as I left it. Remove `ralph-demo/` to start over.",
        },
    ),
    Step::Say(
        "Everything is done and the check passes. Remove `ralph-demo/` to see the demo again.\n\nLOOP_COMPLETE",
    ),
];

impl Session {
    /// Works on the project, from the state in which an earlier run left it. A failure is also the last message.
    pub(crate) fn run_task(&mut self) -> Result {
        match self.run_steps() {
            Err(Stop::TaskFailed(reason)) => {
                self.say(&reason)?;
                Err(Stop::TaskFailed(reason))
            }
            ran => ran,
        }
    }

    /// Answers a message that is not the first one.
    pub(crate) fn report_status(&mut self) -> Result {
        let (_, progress) = DemoProject::open(&self.cwd).map_err(Stop::TaskFailed)?;
        let status = match progress {
            Progress::Broken => "The script in `ralph-demo/` does not run yet.",
            Progress::Flawed => "The script in `ralph-demo/` runs, but the check has not been run since.",
            Progress::Finished => "The script in `ralph-demo/` is finished.",
        };
        self.say(&format!(
            "Thanks, I have read your message. I am a scripted demo without a model, so I can only report the status. \
             {status}"
        ))
    }

    fn run_steps(&mut self) -> Result {
        let (project, progress) = DemoProject::open(&self.cwd).map_err(Stop::TaskFailed)?;
        let steps = match progress {
            Progress::Broken => FIRST_RUN,
            Progress::Flawed => SECOND_RUN,
            Progress::Finished => LATER_RUN,
        };
        for step in steps {
            match step {
                Step::Think(thought) => {
                    self.begin_message()?;
                    self.thinking(thought)?;
                }
                Step::Todos(text, todos, done) => self.write_todos(text, *todos, *done)?,
                Step::Read(text, name) => self.read_file(text, &project, name)?,
                Step::Edit(text, edit) => self.edit_script(text, &project, *edit)?,
                Step::Run(text, run) => {
                    if self.run_command(text, run.command, run.description)? != run.succeeds {
                        return Err(Stop::TaskFailed(run.otherwise.to_owned()));
                    }
                }
                Step::AskForGreeting => self.ask_for_greeting(&project)?,
                Step::Say(text) => self.say(text)?,
            }
        }
        Ok(())
    }

    /// Asks only if the caller answers questions.
    fn ask_for_greeting(&mut self, project: &DemoProject) -> Result {
        if !self.arguments.can_ask {
            return Ok(());
        }
        let options = [
            (GREETINGS[0], "Short and friendly"),
            (GREETINGS[1], "A little more formal"),
        ];
        let question = "How should the script greet people?";
        let answer = self.ask_question("One question before I continue.", question, &options)?;
        if answer.as_deref() != Some(GREETINGS[1]) {
            return Ok(());
        }
        let edit = Edit {
            old: "greeting=\"Hello\"",
            new: "greeting=\"Good day\"",
        };
        self.edit_script("\"Good day\" it is.", project, edit)
    }

    /// Writes the last message of a turn.
    fn say(&mut self, text: &str) -> Result {
        self.begin_message()?;
        self.text(text)?;
        self.end_message("end_turn")
    }
}
