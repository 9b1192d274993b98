//! The command line as people read it: help pages, `docs/cli.md`, mistakes.

#![expect(clippy::unwrap_used, reason = "a page that cannot be rendered has to fail")]

mod pages;

use std::fmt::Write as _;

use pages::assert_page;
use ralph::cli::{self, Command};
use ralph::commands::help::render_help;
use ralph::settings::SETTINGS;

/// The usual terminal.
const COLUMNS: usize = 80;

fn help(name: &str) -> String {
    let mut command = cli::command().term_width(COLUMNS);
    command.build();
    let mut page = match name {
        "ralph" => command,
        name => {
            let mut found = &command;
            for word in name.split(' ') {
                found = found.find_subcommand(word).unwrap();
            }
            found.clone()
        }
    };
    page.render_help().to_string()
}

/// The commands that people see.
fn names() -> Vec<String> {
    let command = cli::command();
    let mut names = Vec::new();
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_name();
        names.push(name.to_owned());
        let below = command.get_subcommands();
        names.extend(below.map(|command| format!("{name} {}", command.get_name())));
    }
    names
}

#[test]
fn every_command_has_a_help_page_with_an_example() {
    let mut pages = help("ralph");
    for name in names() {
        let page = help(&name);
        assert!(page.contains("\nExamples:\n  ralph "), "{name} has no example");
        write!(pages, "\n======== {name} ========\n{page}").unwrap();
    }
    insta::assert_snapshot!(pages);
}

/// The command lines of `ralph` in a page's examples, without what explains them.
fn examples(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // Deeper ones explain the line above.
    let lines = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let commands = lines.map(|line| line.split("  ").next().unwrap_or(line));
    // Where the output goes is for the shell.
    let commands = commands.map(|line| line.split(" > ").next().unwrap_or(line));
    commands
        .flat_map(|line| line.split(" | ").flat_map(|part| part.split(" && ")))
        .map(str::trim)
        .filter(|command| command.starts_with("ralph "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_example_of_a_help_page_can_be_typed() {
    let mut count = 0;
    for name in std::iter::once("ralph".to_owned()).chain(names()) {
        for example in examples(&help(&name)) {
            let words = shlex::split(&example).unwrap();
            let parsed = cli::parse(&words).map_err(|stop| stop.text);
            assert!(parsed.is_ok(), "{name}: {example}: {parsed:?}");
            count += 1;
        }
    }
    assert!(count > 40, "only {count} examples were found");
}

#[track_caller]
fn assert_fits(name: &str, page: &str) {
    for line in page.lines() {
        assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
    }
}

fn topic(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn no_line_of_a_help_page_is_too_wide() {
    for name in std::iter::once(String::new()).chain(names()) {
        assert_fits(&name, &render_help(&topic(&name), COLUMNS).unwrap());
        let mut command = &cli::command();
        for word in name.split_whitespace() {
            command = command.find_subcommand(word).unwrap();
        }
        // Examples are laid out by hand: a wrapped one is hard to read.
        assert_fits(&name, &command.get_after_help().unwrap().to_string());
    }
    for page in std::iter::once("ralph".to_owned()).chain(names()) {
        assert_fits(&page, &help(&page));
    }
}

#[test]
fn every_setting_is_in_the_terminal_reference() {
    let page = render_help(&topic("config"), COLUMNS).unwrap();
    assert_fits("config", &page);
    let words: Vec<&str> = page.split([' ', ',', ';', '\n']).collect();
    for setting in SETTINGS.iter() {
        for name in [setting.key, setting.short_key, setting.flag, setting.variable] {
            assert!(name.is_empty() || words.contains(&name), "{name}");
        }
    }
    insta::assert_snapshot!(
        "settings_with_cost_in_their_name",
        render_help(&topic("config COST"), 60).unwrap()
    );
    for (words, message) in [
        (
            "config warp",
            "no setting has `warp` in its name; `ralph help config` lists all",
        ),
        (
            "run fast",
            "no help for `run fast`; `ralph help` lists the commands",
        ),
    ] {
        let failure = render_help(&topic(words), COLUMNS).unwrap_err();
        assert_eq!((failure.exit_code, failure.message.as_str()), (64, message));
    }
}

#[test]
fn the_command_reference_is_up_to_date() {
    let mut page = "# Commands\n\nWritten from the code by a test; do not edit. Settings are in [config.md](config.md).\n".to_owned();
    for name in std::iter::once("ralph".to_owned()).chain(names()) {
        let title = if name == "ralph" {
            name.clone()
        } else {
            format!("ralph {name}")
        };
        write!(page, "\n## {title}\n\n```text\n{}\n```\n", help(&name).trim_end()).unwrap();
    }
    assert_page("cli.md", &page);
}

#[test]
fn the_settings_reference_is_up_to_date() {
    assert_page("config.md", &ralph::settings::render_reference());
    assert_page("agents.md", &ralph::settings::render_agents());
}

#[test]
fn every_flag_of_run_is_a_setting_or_about_this_run_only() {
    const ABOUT_THIS_RUN: [&str; 18] = [
        "--directory",
        "--worktree",
        "--slash",
        "--task",
        "--once",
        "--interactive",
        "--ephemeral",
        "--reset-budget",
        "--continue",
        "--resume",
        "--fork",
        "--fresh",
        "--detach",
        "--tui",
        "--dry-run",
        "--trust",
        "--no-trust",
        "--help",
    ];
    let mut command = cli::command();
    command.build();
    let run = command.find_subcommand("run").unwrap();
    let flags: Vec<String> = run
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .map(|long| format!("--{long}"))
        .collect();
    for flag in &flags {
        let is_setting = SETTINGS.iter().any(|setting| setting.flag == flag);
        assert!(is_setting != ABOUT_THIS_RUN.contains(&flag.as_str()), "{flag}");
    }
    for setting in SETTINGS.iter().filter(|setting| !setting.flag.is_empty()) {
        assert!(
            flags.iter().any(|flag| flag == setting.flag),
            "{} is no flag",
            setting.flag
        );
    }
}

#[test]
fn what_does_not_work_yet_is_not_in_the_help() {
    let page = help("run");
    assert!(!page.contains("--sandbox"), "{page}");
}

fn stop(line: &str) -> cli::Stop {
    cli::parse(line.split_whitespace()).unwrap_err()
}

#[test]
fn mistakes_exit_with_64_and_belong_on_stderr() {
    for line in [
        "ralph",
        "ralph fly",
        "ralph run -v -q",
        "ralph run -p a -P b",
        "ralph run -p a -",
        "ralph run - -P b",
        "ralph run text-without-a-flag",
        "ralph run --backend clade",
        "ralph run --continue --resume x",
        "ralph run --fork",
        "ralph run --max-cost lots",
        "ralph run --max-runtime soon",
        "ralph run --max-iterations -1",
        "ralph run --tools Bash(",
        "ralph run --detach --dry-run",
        "ralph run --tui --detach",
        "ralph run --tui -q",
        "ralph stop",
        "ralph stop latest --all",
        "ralph send latest",
        "ralph send latest a --steer --queue",
        "ralph queue edit latest 3fd2",
        "ralph queue withdraw latest",
        "ralph queue latest withdraw 3fd2",
        "ralph queue --json withdraw latest 3fd2",
        "ralph answer latest --allow --deny",
        "ralph answer latest --allow --json",
        "ralph logs latest --raw -v",
        "ralph replay x --speed -1",
        "ralph clean --older-than ever",
        "ralph completions tcsh",
    ] {
        let stop = stop(line);
        assert_eq!(
            (stop.exit_code, stop.is_error),
            (64, true),
            "{line}: {}",
            stop.text
        );
        assert!(!stop.text.trim().is_empty(), "{line}");
    }
}

#[test]
fn help_and_version_exit_with_0_and_belong_on_stdout() {
    for line in ["ralph --help", "ralph -h", "ralph --version", "ralph run --help"] {
        let stop = stop(line);
        assert_eq!(
            (stop.exit_code, stop.is_error),
            (0, false),
            "{line}: {}",
            stop.text
        );
    }
}

#[test]
fn mistakes_say_what_would_be_right() {
    let texts = [
        "ralph run --backend clade",
        "ralph run fix-it",
        "ralph run --maxcost 1",
        "ralph rnu",
        "ralph run -v -q",
    ]
    .map(|line| format!("$ {line}\n{}", stop(line).text));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn flags_arrive_as_they_were_given() {
    let parse = |line: &str| match cli::parse(line.split_whitespace()).unwrap().command {
        Command::Run(run) => run,
        other => unreachable!("{other:?}"),
    };
    assert_eq!(*parse("ralph run"), ralph::commands::run::RunArgs::default());
    let run = parse("ralph run - --once -- --effort=high -x -");
    assert!(run.stdin.is_some() && run.once);
    assert_eq!(run.extra, ["--effort=high", "-x", "-"]);
    let run = parse("ralph run -p --not-a-flag --verify a --verify b --tools Read,Bash(git:*,x)");
    assert_eq!(run.settings.prompt.as_deref(), Some("--not-a-flag"));
    assert_eq!(run.settings.verify.unwrap(), ["a", "b"]);
    assert_eq!(run.settings.tools.unwrap().0, ["Read", "Bash(git:*,x)"]);
    let Command::Answer(answer) = cli::parse(["ralph", "answer", "latest", "--deny"])
        .unwrap()
        .command
    else {
        unreachable!("it is an answer")
    };
    assert_eq!(answer.deny.as_deref(), Some(""));
}
