//! `missing_programs`: finds verify commands that cannot succeed because their program does not exist. A typo there costs
//! a whole run, because no iteration can satisfy it.

use std::path::Path;

use agent_process::{EnvPolicy, SpawnError, find_program};

/// Words that a shell runs itself, or that begin something other than a plain command.
const SHELL_WORDS: [&str; 40] = [
    "!", ".", ":", "[", "alias", "bg", "break", "case", "cd", "command", "continue", "echo", "eval", "exec",
    "exit", "export", "false", "fg", "for", "getopts", "hash", "if", "jobs", "kill", "printf", "pwd", "read",
    "readonly", "return", "set", "shift", "test", "time", "times", "trap", "true", "umask", "until", "wait",
    "while",
];

/// A warning for each command whose program cannot be found. It is not an error: the agent may be about to write or to
/// install the program.
pub(super) fn missing_programs(commands: &[String], workspace: &Path) -> Vec<String> {
    let environment = EnvPolicy::Inherit {
        set: Vec::new(),
        remove: Vec::new(),
    };
    let is_missing = |program: &str| {
        let found = find_program(Path::new(program), Some(workspace), &environment);
        matches!(found, Err(SpawnError::NotFound { .. }))
    };
    let warning = |command: &String| {
        let program = program_of(command).filter(|program| is_missing(program))?;
        Some(format!(
            "the verify command `{command}` cannot succeed yet: there is no program `{program}`"
        ))
    };
    commands.iter().filter_map(warning).collect()
}

/// The program that a command line starts with, if that is plain to see.
fn program_of(command: &str) -> Option<&str> {
    let is_plain = |word: &str| {
        let mut characters = word.chars();
        characters.all(|it| it.is_ascii_alphanumeric() || "-_./+".contains(it))
    };
    // Not even an assignment such as `PATH=…`, which could change where programs are found.
    let word = command.split_whitespace().next()?;
    (is_plain(word) && !SHELL_WORDS.contains(&word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::{missing_programs, program_of};

    #[test]
    fn only_a_plain_first_word_is_taken_for_a_program() {
        assert_eq!(program_of("carog test"), Some("carog"));
        assert_eq!(program_of("  ./check.sh && true"), Some("./check.sh"));
        for command in [
            "",
            "cd web && npm test",
            "A=b make",
            "(make)",
            "$MAKE test",
            "! grep -r oops .",
            "'my tests'",
            "test -f done",
            "{ make; }",
            "~/bin/check",
            "make; true",
        ] {
            let program = program_of(command);
            assert!(
                program.is_none_or(|program| program == "make"),
                "{command}: {program:?}"
            );
        }
    }

    #[test]
    fn a_typo_is_reported_and_a_program_of_the_workspace_is_found() {
        let workspace = tempfile::tempdir().unwrap();
        let script = workspace.path().join("check.sh");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let commands = [
            "sh -c true",
            "./check.sh",
            "ralph-has-no-such-program test",
            "./chekc.sh",
        ];
        let commands: Vec<String> = commands.map(str::to_owned).into();
        let warnings = missing_programs(&commands, workspace.path());
        assert_eq!(
            warnings,
            [
                "the verify command `ralph-has-no-such-program test` cannot succeed yet: there is no program \
                 `ralph-has-no-such-program`",
                "the verify command `./chekc.sh` cannot succeed yet: there is no program `./chekc.sh`",
            ]
        );
    }
}
