use std::env;
use std::path::{Path, PathBuf};

/// A binary of this package was asked for before anybody built it.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` is not in {}; run `cargo build -p test_support --bins` first", looked_in.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(" or "))]
pub struct BinaryNotBuilt {
    name: String,
    looked_in: Vec<PathBuf>,
}

/// The path of a binary of this package, beside the running test, example or benchmark.
///
/// `RALPH_TEST_BINARIES` names another directory to look in first, for packages with a target directory of their own.
pub fn bin(name: &str) -> Result<PathBuf, BinaryNotBuilt> {
    let mut looked_in: Vec<PathBuf> = env::var_os("RALPH_TEST_BINARIES")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    if let Some(directory) = env::current_exe().ok().as_deref().and_then(profile_directory) {
        looked_in.push(directory.to_owned());
    }
    let file_name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let found = looked_in
        .iter()
        .map(|directory| directory.join(&file_name))
        .find(|path| path.is_file());
    found.ok_or_else(|| BinaryNotBuilt {
        name: name.to_owned(),
        looked_in,
    })
}

/// `target/<profile>` for an executable in it, in its `deps` or in its `examples`.
fn profile_directory(executable: &Path) -> Option<&Path> {
    let directory = executable.parent()?;
    let is_nested = directory
        .file_name()
        .is_some_and(|name| name == "deps" || name == "examples");
    if is_nested {
        directory.parent()
    } else {
        Some(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::{bin, profile_directory};
    use std::path::Path;

    #[test]
    fn binaries_are_looked_for_in_the_profile_directory() {
        let expected = Some(Path::new("/t/debug"));
        assert_eq!(profile_directory(Path::new("/t/debug/ralph")), expected);
        assert_eq!(
            profile_directory(Path::new("/t/debug/deps/stream-0a1b")),
            expected
        );
        assert_eq!(profile_directory(Path::new("/t/debug/examples/live")), expected);
    }

    #[test]
    fn a_missing_binary_says_how_to_build_it() {
        let message = bin("no_such_binary").unwrap_err().to_string();
        assert!(
            message.contains("cargo build -p test_support --bins"),
            "{message}"
        );
    }
}
