//! From what was asked for to what is executed: program, directory and environment.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::SpawnError;
use crate::spec::{EnvPolicy, MARKER_VARIABLE, SpawnSpec};

/// The child's whole environment. Later entries win over earlier ones of the same name.
pub(crate) fn resolve_env(spec: &SpawnSpec) -> Vec<(OsString, OsString)> {
    let (mut env, set) = match &spec.env {
        EnvPolicy::Inherit { set, remove } => (
            std::env::vars_os()
                .filter(|(name, _)| !remove.contains(name))
                .collect(),
            set,
        ),
        EnvPolicy::Clear { set } => (Vec::new(), set),
    };
    let marker = spec
        .marker
        .as_ref()
        .map(|marker| (MARKER_VARIABLE.into(), marker.into()));
    for (name, value) in set.iter().cloned().chain(marker) {
        env.retain(|(known, _): &(OsString, OsString)| *known != name);
        env.push((name, value));
    }
    env
}

/// The directory the child starts in, checked.
pub(crate) fn resolve_cwd(spec: &SpawnSpec) -> Result<PathBuf, SpawnError> {
    let cwd = match &spec.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let asked = || spec.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let bad = |source| SpawnError::BadWorkingDirectory { cwd: asked(), source };
    let cwd = cwd.map_err(bad)?;
    let bad = |source| SpawnError::BadWorkingDirectory {
        cwd: cwd.clone(),
        source,
    };
    if !std::fs::metadata(&cwd).map_err(bad)?.is_dir() {
        return Err(bad(io::ErrorKind::NotADirectory.into()));
    }
    Ok(cwd)
}

/// The file that will be executed. A bare name is looked up in the child's `PATH`, a relative path from `cwd`.
pub(crate) fn resolve_program(
    program: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<PathBuf, SpawnError> {
    let is_bare = program.components().count() == 1 && program.file_name() == Some(program.as_os_str());
    if !is_bare {
        let path = cwd.join(program);
        return match executable(&path) {
            Ok(true) => Ok(path),
            Ok(false) => Err(SpawnError::NotExecutable {
                program: path,
                source: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(SpawnError::NotExecutable {
                program: path,
                source: Some(error),
            }),
            Err(_) => Err(SpawnError::NotFound {
                program: program.into(),
            }),
        };
    }
    let search = env
        .iter()
        .find(|(name, _)| name == OsStr::new("PATH"))
        .map(|(_, value)| value.as_os_str());
    let mut refused = None;
    for folder in std::env::split_paths(search.unwrap_or_else(|| OsStr::new(DEFAULT_PATH))) {
        for candidate in candidates(&cwd.join(folder).join(program)) {
            match executable(&candidate) {
                Ok(true) => return Ok(candidate),
                Ok(false) => refused = Some(candidate),
                Err(_) => {}
            }
        }
    }
    Err(match refused {
        Some(program) => SpawnError::NotExecutable {
            program,
            source: None,
        },
        None => SpawnError::NotFound {
            program: program.into(),
        },
    })
}

#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
#[cfg(not(unix))]
const DEFAULT_PATH: &str = "";

#[cfg(unix)]
fn candidates(path: &Path) -> Vec<PathBuf> {
    vec![path.to_path_buf()]
}

/// On Windows a bare name may stand for any of these.
#[cfg(not(unix))]
fn candidates(path: &Path) -> Vec<PathBuf> {
    ["exe", "cmd", "bat"]
        .iter()
        .map(|ending| path.with_extension(ending))
        .chain([path.to_path_buf()])
        .collect()
}

#[cfg(unix)]
fn executable(path: &Path) -> io::Result<bool> {
    use rustix::fs::{Access, AtFlags, CWD};
    let is_file = std::fs::metadata(path)?.is_file();
    Ok(is_file && rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok())
}

#[cfg(not(unix))]
fn executable(path: &Path) -> io::Result<bool> {
    Ok(std::fs::metadata(path)?.is_file())
}

#[cfg(test)]
mod tests {
    use super::{resolve_env, resolve_program};
    use crate::spec::{EnvPolicy, SpawnSpec};
    use std::path::Path;

    #[test]
    fn a_cleared_environment_holds_only_what_was_set_and_the_marker() {
        let mut spec = SpawnSpec::new("true");
        spec.env = EnvPolicy::Clear {
            set: vec![("A".into(), "1".into()), ("A".into(), "2".into())],
        };
        spec.marker = Some("run-7".into());
        assert_eq!(
            resolve_env(&spec),
            vec![("A".into(), "2".into()), ("RALPH_RUN_ID".into(), "run-7".into())]
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
        assert!(env.iter().all(|(name, _)| name != "PATH"));
        assert!(env.contains(&("B".into(), "1".into())));
    }

    #[cfg(unix)]
    #[test]
    fn a_bare_name_is_found_in_the_childs_own_path_and_a_path_is_not_searched() {
        let env = vec![("PATH".into(), "/nowhere:/bin:/usr/bin".into())];
        let found = resolve_program(Path::new("sh"), Path::new("/"), &env).unwrap();
        assert!(found.ends_with("sh") && found.is_absolute());
        assert!(resolve_program(Path::new("./sh"), Path::new("/"), &env).is_err());
        assert!(
            resolve_program(
                Path::new("sh"),
                Path::new("/"),
                &[("PATH".into(), "/nowhere".into())]
            )
            .is_err()
        );
    }
}
