use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The made-up key that the CLI sends to the scripted model.
pub const FAKE_KEY: &str = "sk-ant-fake-test";

const STANDARD_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The whole environment of a real Claude Code in a test; nothing is inherited. The caller clears the environment first.
#[must_use]
pub fn isolated_env(home: &Path, base_url: &str) -> Vec<(OsString, OsString)> {
    with_base(
        home,
        &[
            ("ANTHROPIC_BASE_URL", base_url),
            ("ANTHROPIC_API_KEY", FAKE_KEY),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
    )
}

/// What every program needs, and these.
pub(super) fn with_base(home: &Path, own: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let mut path: Vec<PathBuf> = STANDARD_PATH.iter().map(PathBuf::from).collect();
    // Some versions are Node programs, and Node is not everywhere in a standard place.
    if !path.iter().any(|directory| directory.join("node").exists()) {
        path.extend(directory_of_node());
    }
    let fixed = [
        ("LANG", "C.UTF-8"),
        ("TERM", "xterm-256color"),
        ("SHELL", "/bin/bash"),
        // As root the CLI refuses to skip permissions without it. Nothing but the scripted model talks to it.
        ("IS_SANDBOX", "1"),
    ];
    let mut environment: Vec<(OsString, OsString)> = fixed
        .iter()
        .chain(own)
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    environment.push(("PATH".into(), env::join_paths(path).unwrap_or_default()));
    environment.push(("HOME".into(), home.into()));
    environment
}

fn directory_of_node() -> Option<PathBuf> {
    let name = format!("node{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).find(|directory| directory.join(&name).exists())
}

#[cfg(test)]
mod tests {
    use super::isolated_env;
    use std::path::Path;

    #[test]
    fn the_environment_holds_nothing_but_the_recipe() {
        let environment = isolated_env(Path::new("/home/user"), "http://127.0.0.1:1");
        let mut names: Vec<&str> = environment
            .iter()
            .map(|(name, _)| name.to_str().unwrap())
            .collect();
        names.sort_unstable();
        let expected = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_TELEMETRY",
            "HOME",
            "IS_SANDBOX",
            "LANG",
            "PATH",
            "SHELL",
            "TERM",
        ];
        assert_eq!(names, expected);
    }
}
