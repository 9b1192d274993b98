//! How runs are named on the command line.

use std::process::Command;

use crate::stage::{Ran, Stage, says, works};

/// A second workspace with the same agent.
fn other_workspace(stage: &Stage) -> std::path::PathBuf {
    let other = stage.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(stage.workspace().join("ralph.yml"), other.join("ralph.yml")).unwrap();
    other
}

fn ran(command: &mut Command) -> Ran {
    Ran::of(&command.output().unwrap())
}

fn started(command: &mut Command) -> String {
    let ran = ran(command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout.trim().to_owned()
}

#[test]
fn a_run_is_named_by_the_short_part_of_its_id_or_the_beginning_of_it() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    assert_eq!(stage.run(&[]).code, Some(0));
    let id = stage.run_file()["run_id"].as_str().unwrap().to_owned();
    let (_, short) = id.rsplit_once('-').unwrap();
    assert_eq!(short.len(), 8, "{id}");
    for name in [id.as_str(), short, &short[..3], "latest"] {
        let shown = ran(&mut stage.ralph(&["show", name]));
        assert!(shown.stdout.contains(&id), "{name}: {shown:?}");
    }
    let listed = ran(&mut stage.ralph(&["runs"]));
    assert!(
        listed.stdout.contains(short) && !listed.stdout.contains(&id),
        "{listed:?}"
    );
    for (name, says) in [
        ("nope", "no run `nope`"),
        ("", "no run ``"),
        ("../x", "no run `../x`"),
    ] {
        let unknown = ran(&mut stage.ralph(&["show", name]));
        assert_eq!(unknown.code, Some(1), "{unknown:?}");
        assert!(unknown.stderr.contains(says), "{unknown:?}");
    }
    let found = ran(stage
        .ralph(&["search", "LOOP_COMPLETE", "--run", "latest"])
        .env("XDG_DATA_HOME", stage.path("data")));
    assert_eq!(found.code, Some(0), "{found:?}");
}

#[test]
fn latest_is_of_this_workspace_and_active_for_commands_that_need_it() {
    let stage = Stage::new(&works().sleep_forever());
    let other = other_workspace(&stage);
    let start = &["run", "-p", "x", "--detach", "--trust"];
    let here = started(&mut stage.ralph(start));
    let there = started(stage.ralph(start).current_dir(&other));
    let shown = ran(&mut stage.ralph(&["show", "latest"]));
    assert!(shown.stdout.contains(&here), "{shown:?}");
    let stopped = ran(&mut stage.ralph(&["stop", "latest"]));
    assert!(stopped.stdout.contains(&here), "{stopped:?}");
    assert_eq!(stopped.stderr, "");
    // Nothing is active here any more, and the agent of another workspace is not meant.
    for command in ["stop", "interrupt"] {
        let none = ran(&mut stage.ralph(&[command, "latest"]));
        let text = format!("{}{}", none.stdout, none.stderr);
        assert!(text.contains(&format!("run {here} ended")), "{none:?}");
    }
    let empty = stage.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let short = ralph_run::short_run_id(&there);
    let refused = ran(stage.ralph(&["stop", "latest"]).current_dir(&empty));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains(&format!("name it: {short}")),
        "{refused:?}"
    );
    let shown = ran(stage.ralph(&["show", "latest"]).current_dir(&empty));
    assert!(
        shown.stderr.contains(&format!("using run {short} of")),
        "{shown:?}"
    );
    assert!(ran(&mut stage.ralph(&["stop", short])).stdout.contains(&there));
}

#[test]
fn a_run_is_resumed_by_its_name() {
    const SESSION: &str = "00000000-0000-4000-8000-000000000001";
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    assert_eq!(stage.run(&[]).code, Some(0));
    let id = stage.run_file()["run_id"].as_str().unwrap().to_owned();
    let short = ralph_run::short_run_id(&id);
    for name in [short, "latest"] {
        let dry = stage.run(&["--resume", name, "--dry-run"]);
        assert!(dry.stdout.contains(SESSION), "{name}: {dry:?}");
    }
    assert_eq!(stage.run(&["--resume", short]).code, Some(0));
    assert_eq!(stage.run_file()["resumed_from"], id.as_str());
    let with_another = stage.run(&["--resume", short, "-b", "demo"]);
    assert_eq!(with_another.code, Some(64), "{with_another:?}");
    assert!(
        with_another
            .stderr
            .contains("used the backend `claude` and cannot be resumed with `demo`; add `--backend claude`"),
        "{with_another:?}"
    );
    let other = other_workspace(&stage);
    let elsewhere = ran(stage
        .ralph(&["run", "-p", "x", "--trust", "--resume", short])
        .current_dir(other));
    assert_eq!(elsewhere.code, Some(64), "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("resume it there"), "{elsewhere:?}");
    assert_eq!(stage.run(&["--ephemeral"]).code, Some(0));
    let lost = stage.run(&["--resume", "latest"]);
    assert_eq!(lost.code, Some(64), "{lost:?}");
    assert!(lost.stderr.contains("--ephemeral"), "{lost:?}");
}

#[test]
fn a_shell_completes_runs_and_modes() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    assert_eq!(stage.run(&[]).code, Some(0));
    let id = stage.run_file()["run_id"].as_str().unwrap().to_owned();
    let short = ralph_run::short_run_id(&id);
    let script = ran(&mut stage.ralph(&["completions", "bash"])).stdout;
    std::fs::write(stage.path("script"), script).unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_ralph"));
    let complete = |words: &str, place: usize| {
        let line = format!(
            "source \"$0\"; COMP_WORDS=({words}); COMP_CWORD={place}; _ralph_known_words ralph; echo \"${{COMPREPLY[@]}}\""
        );
        let ralph = stage.ralph(&[]);
        let mut bash = Command::new("bash");
        bash.arg("-c")
            .arg(line)
            .arg(stage.path("script"))
            .env_clear()
            .envs(ralph.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", program.parent().unwrap().display()),
            )
            .current_dir(stage.workspace());
        ran(&mut bash).stdout.trim().to_owned()
    };
    assert_eq!(complete("ralph show ''", 2), short);
    assert_eq!(complete(&format!("ralph run --resume {}", &short[..2]), 3), short);
    assert_eq!(complete("ralph run --mode pl", 3), "planner");
    assert!(complete("ralph show --js", 2).contains("--json"));
}
