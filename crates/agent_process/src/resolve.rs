//! Resolves a `SpawnSpec` to what is executed: the program's file, the working directory and the environment.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::SpawnError;
use crate::spec::{EnvPolicy, SpawnSpec};

/// Searched if the child's environment has no `PATH`.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
#[cfg(not(unix))]
const DEFAULT_PATH: &str = "";

/// Finds the file that [`spawn`](crate::spawn) would execute. A bare name is looked up in the `PATH` of the child's
/// environment, a relative path from `cwd`.
///
/// # Errors
/// If there is no such file, or it is not executable.
pub fn find_program(program: &Path, cwd: Option<&Path>, env: &EnvPolicy) -> Result<PathBuf, SpawnError> {
    let mut spec = SpawnSpec::new(program);
    spec.cwd = cwd.map(Path::to_path_buf);
    spec.env = env.clone();
    resolve_program(program, &resolve_cwd(&spec)?, &resolve_env(&spec))
}

/// The child's whole environment. Of several entries with the same name the last one wins.
pub(crate) fn resolve_env(spec: &SpawnSpec) -> Vec<(OsString, OsString)> {
    let (mut env, set) = match &spec.env {
        EnvPolicy::Inherit { set, remove } => (
            std::env::vars_os()
                .filter(|(name, _)| !remove.iter().any(|removed| is_same_name(removed, name)))
                .collect(),
            set,
        ),
        EnvPolicy::Clear { set } => (Vec::new(), set),
    };
    let marker = spec
        .marker
        .as_ref()
        .map(|marker| (marker.variable().into(), marker.value().into()));
    for (name, value) in set.iter().cloned().chain(marker) {
        env.retain(|(known, _): &(OsString, OsString)| !is_same_name(known, &name));
        env.push((name, value));
    }
    env
}

/// Windows ignores the case of variable names, and calls the search path `Path`.
fn is_same_name(left: &OsStr, right: &OsStr) -> bool {
    if cfg!(windows) {
        left.eq_ignore_ascii_case(right)
    } else {
        left == right
    }
}

/// The directory the child starts in, as an absolute path.
pub(crate) fn resolve_cwd(spec: &SpawnSpec) -> Result<PathBuf, SpawnError> {
    let bad = |cwd: &Path, source| SpawnError::BadWorkingDirectory {
        cwd: cwd.into(),
        source,
    };
    let cwd = match &spec.cwd {
        Some(cwd) => std::path::absolute(cwd).map_err(|error| bad(cwd, error))?,
        None => std::env::current_dir().map_err(|error| bad(Path::new("."), error))?,
    };
    let metadata = std::fs::metadata(&cwd).map_err(|error| bad(&cwd, error))?;
    if !metadata.is_dir() {
        return Err(bad(&cwd, io::ErrorKind::NotADirectory.into()));
    }
    Ok(cwd)
}

/// The file to execute. A bare name is looked up in the `PATH` of `env`, a relative path from `cwd`.
pub(crate) fn resolve_program(
    program: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<PathBuf, SpawnError> {
    let search = env
        .iter()
        .find(|(name, _)| is_same_name(name, OsStr::new("PATH")))
        .map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value);
    if let Ok(found) = which::which_in(program, Some(search), cwd) {
        return Ok(found);
    }
    // Tell a file that is not executable from one that does not exist.
    let is_bare = program.components().count() == 1 && program.file_name() == Some(program.as_os_str());
    let candidates: Vec<PathBuf> = if is_bare {
        std::env::split_paths(search)
            .map(|folder| cwd.join(folder).join(program))
            .collect()
    } else {
        vec![cwd.join(program)]
    };
    for candidate in candidates {
        let source = match std::fs::metadata(&candidate) {
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_bare => Some(error),
            Err(_) => continue,
        };
        return Err(SpawnError::NotExecutable {
            program: candidate,
            source,
        });
    }
    Err(SpawnError::NotFound {
        program: program.into(),
    })
}

/// A command for tests. Its program is a path, as in [`spawn`](crate::spawn).
#[cfg(all(unix, test))]
pub(crate) fn resolved_command(name: &str) -> tokio::process::Command {
    let env = EnvPolicy::default();
    let program = find_program(Path::new(name), None, &env);
    tokio::process::Command::new(program.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{resolve_env, resolve_program};
    use crate::spec::{EnvPolicy, Marker, SpawnSpec};
    use std::path::Path;

    #[test]
    fn a_cleared_environment_holds_only_what_was_set_and_the_marker() {
        let mut spec = SpawnSpec::new("true");
        spec.env = EnvPolicy::Clear {
            set: vec![("A".into(), "1".into()), ("A".into(), "2".into())],
        };
        spec.marker = Some(Marker::new("EXAMPLE_RUN", "run-7"));
        assert_eq!(
            resolve_env(&spec),
            vec![("A".into(), "2".into()), ("EXAMPLE_RUN".into(), "run-7".into())]
        );
    }

    #[test]
    fn removed_variables_do_not_reach_the_child() {
        let mut spec = SpawnSpec::new("true");
        spec.env = EnvPolicy::Inherit {
            set: vec![("B".into(), "1".into())],
            remove: vec!["PATH".into()],
        };
        let env = resolve_env(&spec);
        assert!(env.iter().all(|(name, _)| !name.eq_ignore_ascii_case("PATH")));
        assert!(env.contains(&("B".into(), "1".into())));
    }

    #[cfg(unix)]
    #[test]
    fn a_bare_name_is_found_in_the_childs_own_path_and_a_path_is_not_searched() {
        let find = |name: &str, path: &str| {
            resolve_program(Path::new(name), Path::new("/"), &[("PATH".into(), path.into())])
        };
        let found = find("sh", "/nowhere:/bin:/usr/bin").unwrap();
        assert!(found.ends_with("sh") && found.is_absolute());
        assert!(find("./sh", "/bin").is_err());
        assert!(find("sh", "/nowhere").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn relative_folders_in_the_path_count_from_the_childs_directory() {
        let find = |path: &str| {
            resolve_program(
                Path::new("sh"),
                Path::new("/usr"),
                &[("PATH".into(), path.into())],
            )
        };
        assert_eq!(find("../bin").unwrap(), Path::new("/usr/../bin/sh"));
        assert!(find("nowhere").is_err());
    }

    #[cfg(windows)]
    #[test]
    fn a_program_is_found_through_path_in_any_case_and_keeps_the_dots_in_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("my.agent.exe"), "").unwrap();
        let env = [("Path".into(), folder.path().into())];
        let found = resolve_program(Path::new("my.agent"), folder.path(), &env).unwrap();
        assert!(
            found.ends_with("my.agent.exe") || found.ends_with("my.agent.EXE"),
            "{found:?}"
        );
    }
}
