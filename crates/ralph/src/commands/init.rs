//! `ralph init`: writes a commented `ralph.yml` and a `PROMPT.md`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::settings::{CONFIG_FILE, find_workspace};

/// Write a commented ralph.yml and a PROMPT.md
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph init
  ralph init -C ../other

Existing files are not changed.")]
pub struct InitArgs {
    /// Workspace [default: the top of the git repository]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

const CONFIG: &str = include_str!("init/ralph.yml");
const PROMPT: &str = include_str!("init/PROMPT.md");
const PROMPT_FILE: &str = "PROMPT.md";

/// A file that shows how a project is tested, and the command for it.
const TESTS: [(&str, &str); 6] = [
    ("Cargo.toml", "cargo test"),
    ("package.json", "npm test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "python -m pytest"),
    ("pom.xml", "mvn -q test"),
    ("Makefile", "make test"),
];

/// Writes the files that do not exist yet. Gives the report for the user.
pub fn init(args: &InitArgs, cwd: &Path) -> anyhow::Result<String> {
    let workspace = find_workspace(args.directory.as_deref(), cwd)?;
    let mut report = String::new();
    for (name, content) in [
        (CONFIG_FILE, config(&workspace)),
        (PROMPT_FILE, PROMPT.to_owned()),
    ] {
        let path = workspace.join(name);
        let is_new =
            write_new(&path, &content).with_context(|| format!("cannot write {}", path.display()))?;
        let done = if is_new { "wrote" } else { "kept" };
        let why = if is_new { "" } else { " (already exists)" };
        report.push_str(&format!("{done} {}{why}\n", path.display()));
    }
    report.push_str(
        "\nNext:\n  1. edit PROMPT.md, and `verify` in ralph.yml\n  2. ralph doctor\n  3. ralph run\n",
    );
    Ok(report)
}

/// Whether a prompt is the `PROMPT.md` that was written here, unchanged.
pub(super) fn is_template(prompt: &str) -> bool {
    prompt.replace("\r\n", "\n").trim() == PROMPT.trim()
}

/// Suggests the command that this kind of project is tested with.
fn config(workspace: &Path) -> String {
    let found = TESTS.iter().find(|(file, _)| workspace.join(file).exists());
    CONFIG.replace("make test", found.map_or("make test", |(_, command)| command))
}

/// Whether it was written: an existing file or link is never touched.
fn write_new(path: &Path, content: &str) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(content.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::InitArgs;
    use super::{CONFIG, init};
    use crate::commands::run::RunArgs;
    use crate::settings::{ConfigFile, Context, SettingsLayer, resolve};

    const ARGS: InitArgs = InitArgs { directory: None };

    #[test]
    fn files_are_written_once_and_never_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("go.mod"), "module x").unwrap();
        let first = init(&ARGS, folder.path()).unwrap();
        assert_eq!(first.matches("wrote ").count(), 2, "{first}");
        let config = std::fs::read_to_string(folder.path().join("ralph.yml")).unwrap();
        assert!(config.contains("go test ./..."), "{config}");
        std::fs::write(folder.path().join("PROMPT.md"), "mine").unwrap();
        let second = init(&ARGS, folder.path()).unwrap();
        assert_eq!(second.matches("kept ").count(), 2, "{second}");
        assert_eq!(
            std::fs::read_to_string(folder.path().join("PROMPT.md")).unwrap(),
            "mine"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null/nowhere", folder.path().join("ralph.yml")).unwrap();
        let report = init(&ARGS, folder.path()).unwrap();
        assert!(report.starts_with("kept "), "{report}");
    }

    /// The settings of `ralph.yml` as it is, and of all its suggestions.
    #[test]
    fn the_written_file_says_what_holds_anyway_and_its_suggestions_are_valid() {
        let context = Context {
            cwd: "/repo".into(),
            workspace: "/repo".into(),
        };
        let path = Path::new("/repo/ralph.yml");
        let settings = |text: &str| {
            let file = ConfigFile::parse(path, text).unwrap();
            assert_eq!(file.warnings(), [], "{text}");
            let (mut settings, _) = resolve(&RunArgs::default(), &|_| None, Some(&file), &context).unwrap();
            settings.origins.clear();
            settings
        };
        assert_eq!(settings(CONFIG), settings(""));
        let uncommented: Vec<&str> = CONFIG
            .lines()
            .map(|line| line.strip_prefix("#:").unwrap_or(line))
            .collect();
        assert!(uncommented.join("\n").contains("\nverify:"));
        let all = settings(&uncommented.join("\n"));
        assert_eq!(all.verify, ["make test"]);
        let args = RunArgs {
            settings: SettingsLayer {
                mode: Some("reviewer".to_owned()),
                ..SettingsLayer::default()
            },
            ..RunArgs::default()
        };
        let file = ConfigFile::parse(path, &uncommented.join("\n")).unwrap();
        let (reviewer, _) = resolve(&args, &|_| None, Some(&file), &context).unwrap();
        assert_eq!(reviewer.mode.as_deref(), Some("reviewer"));
    }
}
