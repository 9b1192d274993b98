//! Programs that cannot be started: the error says why, and no log file is left behind.

#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use agent_process::{EnvPolicy, SpawnError, SpawnSpec, StdoutMode, spawn};
use libtest_mimic::Trial;
use test_support::script::Script;

#[cfg(target_os = "linux")]
use super::assert_success;
#[cfg(unix)]
use super::run;
use super::{Scene, trial};

async fn refused(spec: SpawnSpec) -> SpawnError {
    let log = spec.raw_log.clone();
    let error = spawn(spec).await.map(drop).unwrap_err();
    if let (Some(log), false) = (log, matches!(error, SpawnError::Log { .. })) {
        assert!(!log.exists(), "a failed start must not leave an empty log");
    }
    error
}

fn spec(scene: &Scene) -> SpawnSpec {
    scene.spec(&Script::new().emit("ran"))
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.push(trial("a_missing_program_is_named", |scene| async move {
        let mut spec = spec(&scene);
        spec.program = "no-such-agent".into();
        let error = refused(spec).await;
        assert!(matches!(error, SpawnError::NotFound { .. }));
        assert_eq!(
            error.to_string(),
            "program not found: install it or give its full path: `no-such-agent`"
        );
    }));
    #[cfg(unix)]
    trials.push(trial(
        "a_file_without_the_executable_bit_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.program = scene.path("plain");
            std::fs::write(&spec.program, "#!/bin/sh\n").unwrap();
            assert!(matches!(refused(spec).await, SpawnError::NotExecutable { .. }));
        },
    ));
    #[cfg(unix)]
    trials.push(trial(
        "a_file_that_is_no_program_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.program = scene.path("garbage");
            let mut options = std::fs::OpenOptions::new();
            let mut file = options
                .write(true)
                .create(true)
                .mode(0o755)
                .open(&spec.program)
                .unwrap();
            std::io::Write::write_all(&mut file, b"\x7fELF garbage").unwrap();
            drop(file);
            assert!(matches!(refused(spec).await, SpawnError::NotExecutable { .. }));
        },
    ));
    #[cfg(unix)]
    trials.push(trial("a_missing_interpreter_is_refused", |scene| async move {
        let mut spec = spec(&scene);
        spec.program = scene.path("script");
        std::fs::write(&spec.program, "#!/no/such/interpreter\n").unwrap();
        std::fs::set_permissions(&spec.program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = spec.program.clone();
        let error = refused(spec).await;
        // The program itself is there, so the advice to install it would be wrong.
        assert_eq!(
            error.to_string(),
            format!(
                "the program's interpreter or loader is missing: check the first line of a script, or install a build \
                 for this system: `{}`",
                program.display()
            )
        );
    }));
    trials.push(trial("a_wrong_working_directory_is_named", |scene| async move {
        let mut spec = spec(&scene);
        spec.cwd = Some(scene.path("missing"));
        let error = refused(spec).await;
        assert!(matches!(error, SpawnError::BadWorkingDirectory { .. }));
        assert!(error.to_string().contains("missing"));
    }));
    trials.push(trial(
        "a_file_as_working_directory_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            std::fs::write(scene.path("file"), "").unwrap();
            spec.cwd = Some(scene.path("file"));
            assert!(matches!(
                refused(spec).await,
                SpawnError::BadWorkingDirectory { .. }
            ));
        },
    ));
    #[cfg(target_os = "linux")]
    trials.push(trial(
        "an_argument_above_the_systems_limit_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.args.push("x".repeat(131_072).into());
            assert!(matches!(refused(spec).await, SpawnError::ArgumentsTooLong));
        },
    ));
    #[cfg(target_os = "linux")]
    trials.push(trial(
        "an_argument_at_the_systems_limit_is_passed",
        |scene| async move {
            let mut spec = scene.spec(&Script::new().emit("ran"));
            spec.args.push("x".repeat(131_071).into());
            assert_success(&run(spec).await.1);
        },
    ));
    trials.push(trial(
        "a_nul_byte_in_an_argument_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.args.push("a\0b".into());
            assert!(matches!(
                refused(spec).await,
                SpawnError::NulByte { what: "an argument" }
            ));
        },
    ));
    trials.push(trial(
        "a_nul_byte_in_the_environment_is_refused",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.env = EnvPolicy::Clear {
                set: vec![("A".into(), "a\0b".into())],
            };
            assert!(matches!(
                refused(spec).await,
                SpawnError::NulByte {
                    what: "the environment"
                }
            ));
        },
    ));
    trials.push(trial(
        "a_log_that_exists_is_never_overwritten",
        |scene| async move {
            let spec = spec(&scene);
            std::fs::write(scene.path("raw.ndjson"), "precious").unwrap();
            assert!(matches!(refused(spec).await, SpawnError::Log { .. }));
            assert_eq!(scene.raw_log(), b"precious");
        },
    ));
    #[cfg(unix)]
    trials.push(trial(
        "a_log_is_readable_by_its_owner_alone",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.stderr_log = Some(scene.path("stderr.log"));
            run(spec).await;
            for log in ["raw.ndjson", "stderr.log"] {
                let mode = std::fs::metadata(scene.path(log)).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{log}");
            }
        },
    ));
    trials.push(trial("the_spool_needs_a_log", |scene| async move {
        let mut spec = spec(&scene);
        spec.raw_log = None;
        spec.stdout = StdoutMode::Spool;
        assert!(matches!(refused(spec).await, SpawnError::SpoolWithoutLog));
    }));
    #[cfg(unix)]
    trials.push(trial("out_of_descriptors_is_said_so", |scene| async move {
        let mut hoard = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            hoard.push(file);
        }
        // The script's file and its folder need a few; the child's streams then find none left.
        hoard.truncate(hoard.len() - 4);
        let spec = spec(&scene);
        while let Ok(file) = std::fs::File::open("/dev/null") {
            hoard.push(file);
        }
        let error = spawn(spec).await.map(drop).unwrap_err();
        drop(hoard);
        assert!(matches!(error, SpawnError::TooManyOpenFiles), "{error:?}");
    }));
    trials.push(trial(
        "a_second_log_that_fails_leaves_no_first_one",
        |scene| async move {
            let mut spec = spec(&scene);
            spec.stderr_log = Some(scene.path("no/such/folder/stderr.log"));
            assert!(matches!(spawn(spec).await.map(drop), Err(SpawnError::Log { .. })));
            assert!(!scene.path("raw.ndjson").exists());
        },
    ));
    trials
}
