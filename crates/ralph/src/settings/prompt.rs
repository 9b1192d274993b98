//! `PromptSource`: where the prompt comes from, and `load_prompt`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SettingsError;

/// What an agent reads at once.
const MAX_PROMPT_BYTES: u64 = 10 << 20;

/// Where the prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// From the settings themselves.
    Text(String),
    /// From a file.
    File(PathBuf),
    /// From our stdin.
    Stdin,
    /// From nowhere: a conversation begins with its first message.
    Nothing,
}

/// Gets the prompt. A conversation may have none.
pub fn load_prompt(source: &PromptSource, stdin: impl Read) -> Result<Option<String>, SettingsError> {
    let (text, place) = match source {
        PromptSource::Nothing => return Ok(None),
        PromptSource::Text(text) => (text.clone(), "the prompt".to_owned()),
        PromptSource::Stdin => {
            let read = read_text(stdin);
            let text = read.map_err(|error| {
                SettingsError::Usage(format!("cannot read the prompt from stdin: {error}"))
            })?;
            (text, "the prompt on stdin".to_owned())
        }
        PromptSource::File(path) => {
            let read = std::fs::File::open(path).and_then(read_text);
            (
                read.map_err(|error| unreadable(path, &error))?,
                format!("the prompt in {}", path.display()),
            )
        }
    };
    present(text, &place).map(Some)
}

/// Reads a prompt file again while a run is active. What is there now may be something else: never waits for a pipe.
pub fn reload_prompt(path: &Path) -> Result<String, SettingsError> {
    let read = ralph_run::open_linked_file(path).and_then(read_text);
    let text = read.map_err(|error| {
        SettingsError::Usage(format!("cannot read the prompt from {}: {error}", path.display()))
    })?;
    present(text, &format!("the prompt in {}", path.display()))
}

fn present(text: String, place: &str) -> Result<String, SettingsError> {
    if text.trim().is_empty() {
        return Err(SettingsError::Usage(format!("{place} is empty")));
    }
    Ok(text)
}

/// Checks a prompt file that the workspace chose and not the user: a repository must not send files from elsewhere to
/// the agent's vendor by a link in it.
///
/// # Errors
/// If a path below the workspace leads out of it, or is not a regular file.
pub fn check_workspace_prompt(path: &Path, workspace: &Path) -> Result<(), SettingsError> {
    if !path.starts_with(workspace) {
        // Spelled as a path outside, which needs trust.
        return Ok(());
    }
    check_inside_workspace(path, workspace)
}

/// Checks that a path leads to a regular file within the workspace.
///
/// # Errors
/// If a link leads out of it, or the file is not a regular one.
pub fn check_inside_workspace(path: &Path, workspace: &Path) -> Result<(), SettingsError> {
    let (Ok(real), Ok(workspace)) = (path.canonicalize(), workspace.canonicalize()) else {
        // Reading it says what is wrong.
        return Ok(());
    };
    let refuse = |what: &str| {
        let (path, real) = (path.display(), real.display());
        Err(SettingsError::Usage(format!(
            "`{path}` is {what}; to use it as the prompt, run with `-P {real}`"
        )))
    };
    if !real.starts_with(workspace) {
        return refuse(&format!(
            "a link to `{}`, outside of the workspace",
            real.display()
        ));
    }
    if real.is_dir() {
        let path = path.display();
        return Err(SettingsError::Usage(format!(
            "`{path}` is a directory, not a regular file"
        )));
    }
    if !real.is_file() {
        return refuse("not a regular file");
    }
    Ok(())
}

fn read_text(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(MAX_PROMPT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_PROMPT_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than 10 MiB",
        ));
    }
    Ok(text)
}

fn unreadable(path: &Path, error: &io::Error) -> SettingsError {
    let mut message = format!("cannot read the prompt from {}: {error}", path.display());
    if error.kind() == io::ErrorKind::NotFound {
        message
            .push_str("; give one with `-p TEXT`, `-P FILE` or `-`, or let `ralph init` write a PROMPT.md");
    }
    SettingsError::Usage(message)
}

#[cfg(test)]
mod tests {
    use super::{PromptSource, load_prompt};

    #[test]
    fn a_prompt_comes_from_text_file_or_stdin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("PROMPT.md");
        std::fs::write(&path, "from a file\n").unwrap();
        let load = |source| {
            load_prompt(&source, "from stdin".as_bytes())
                .unwrap()
                .unwrap_or_default()
        };
        assert_eq!(load(PromptSource::Text("as text".to_owned())), "as text");
        assert_eq!(load(PromptSource::File(path)), "from a file\n");
        assert_eq!(load(PromptSource::Stdin), "from stdin");
        assert_eq!(load(PromptSource::Nothing), "");
    }

    #[test]
    fn a_prompt_that_is_not_there_says_how_to_give_one() {
        let folder = tempfile::tempdir().unwrap();
        let missing = PromptSource::File(folder.path().join("PROMPT.md"));
        let error = load_prompt(&missing, std::io::empty()).unwrap_err();
        assert_eq!(error.exit_code(), 64);
        assert!(error.to_string().contains("ralph init"), "{error}");
    }

    #[test]
    fn a_prompt_that_says_nothing_or_is_no_text_is_refused() {
        for bytes in [&b""[..], b" \n\t\n", b"\xff\xfe"] {
            assert_eq!(
                load_prompt(&PromptSource::Stdin, bytes).unwrap_err().exit_code(),
                64
            );
        }
        assert!(load_prompt(&PromptSource::Text(" ".to_owned()), std::io::empty()).is_err());
        let endless = load_prompt(&PromptSource::Stdin, std::io::repeat(b'x')).unwrap_err();
        assert!(endless.to_string().contains("10 MiB"), "{endless}");
    }
}
