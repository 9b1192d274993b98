//! Which value of a setting holds: all settings, all places, all mistakes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test's own inputs are right"
)]

mod combinations;
mod file;
mod mistakes;
mod places;

use std::collections::BTreeMap;
use std::path::Path;

use ralph::cli::{self, Command};
use ralph::commands::run::RunArgs;
use ralph::settings::{ConfigFile, Context, Settings, SettingsError, Warning, resolve};

/// What is said in each place; the prompt is a text unless a test says otherwise.
#[derive(Debug, Clone, Default)]
struct Said {
    flags: Vec<String>,
    variables: BTreeMap<String, String>,
    file: String,
}

impl Said {
    fn flags(line: &str) -> Self {
        Self::default().and_flags(line)
    }

    fn file(text: &str) -> Self {
        Self::default().and_file(text)
    }

    fn variable(name: &str, value: &str) -> Self {
        Self::default().and_variable(name, value)
    }

    fn and_flags(mut self, line: &str) -> Self {
        self.flags.extend(line.split_whitespace().map(str::to_owned));
        self
    }

    fn and_file(mut self, text: &str) -> Self {
        self.file.push_str(text);
        self
    }

    fn and_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn args(&self) -> RunArgs {
        let words = ["ralph", "run"]
            .into_iter()
            .chain(self.flags.iter().map(String::as_str));
        match cli::parse(words).unwrap().command {
            Command::Run(run) => *run,
            other => unreachable!("{other:?}"),
        }
    }

    fn resolve(&self) -> Result<(Settings, Vec<Warning>), SettingsError> {
        let context = Context {
            cwd: "/repo/below".into(),
            workspace: "/repo".into(),
        };
        let file = ConfigFile::parse(Path::new("/repo/ralph.yml"), &self.file)?;
        resolve(
            &self.args(),
            &|name| self.variables.get(name).cloned(),
            Some(&file),
            &context,
        )
    }

    #[track_caller]
    fn settings(&self) -> Settings {
        self.resolve().expect("these settings fit together").0
    }

    /// The message and the exit code.
    #[track_caller]
    fn error(&self) -> (String, u8) {
        let error = self.resolve().expect_err("these settings are wrong");
        (error.to_string(), error.exit_code())
    }
}
