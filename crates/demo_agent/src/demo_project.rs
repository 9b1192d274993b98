//! `DemoProject`: the small project that the agent works on, in a folder of its own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The folder in the working directory that the agent creates. It changes nothing else.
pub const PROJECT_FOLDER: &str = "ralph-demo";
/// Checks whether the task is done. Run it in the agent's working directory.
pub const VERIFY_COMMAND: &str = "sh ralph-demo/check.sh";

pub(crate) const SCRIPT_FILE: &str = "greet.sh";
pub(crate) const CHECK_FILE: &str = "check.sh";
/// The greetings that the script may use. It starts with the first.
pub(crate) const GREETINGS: [&str; 2] = ["Hello", "Good day"];

/// Replaces a part of one line of the script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

pub(crate) const TYPO_FIX: Edit = Edit {
    old: "$nmae!",
    new: "$name!",
};
pub(crate) const UNSET_NAME_FIX: Edit = Edit {
    old: "name=\"$1\"",
    new: "name=\"${1:-world}\"",
};

const SCRIPT_TEXT: &str = r#"#!/bin/sh
# Greets somebody, or the world: sh greet.sh [NAME]
set -u
greeting="Hello"
name="$1"
echo "$greeting, $nmae!"
"#;

const CHECK_TEXT: &str = r#"#!/bin/sh
# Says whether greet.sh does what it should: exit code 0 if it does.
case $0 in */*) CDPATH= cd "${0%/*}" || exit 1 ;; esac
failed=0
check() { # check ENDING [NAME]
    ending=$1
    shift
    said=$(sh greet.sh "$@" 2>&1)
    case $said in
    *"$ending") echo "ok: greet.sh${*:+ $*} says '$said'" ;;
    *)
        echo "FAILED: greet.sh${*:+ $*} says '$said', which does not end with '$ending'"
        failed=1
        ;;
    esac
}
check ", Ralph!" Ralph
check ", Ada Lovelace!" "Ada Lovelace"
check ", world!"
exit $failed
"#;

const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The state of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It does not run.
    Broken,
    /// It runs, but fails without a name.
    Flawed,
    Finished,
}

pub(crate) struct DemoProject {
    folder: PathBuf,
}

impl DemoProject {
    /// Opens the project in `cwd`, and creates it if it does not exist. Refuses files that the agent has not written.
    ///
    /// # Errors
    /// The reason, for people.
    pub(crate) fn open(cwd: &Path) -> Result<(Self, Progress), String> {
        let folder = cwd.join(PROJECT_FOLDER);
        let failed = |error: io::Error| format!("I cannot work in `{PROJECT_FOLDER}/`: {error}.");
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => {
                return Err(format!(
                    "`{PROJECT_FOLDER}` is a symbolic link, so I leave it alone. Remove the link, or start me elsewhere."
                ));
            }
            Ok(found) if !found.is_dir() => {
                return Err(format!(
                    "`{PROJECT_FOLDER}` is not a folder, so I leave it alone. Start me elsewhere."
                ));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&folder).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
        let project = Self { folder };
        for (name, text) in [(SCRIPT_FILE, SCRIPT_TEXT), (CHECK_FILE, CHECK_TEXT)] {
            match project.create(name, text) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
        }
        let script = project.read(SCRIPT_FILE).map_err(failed)?;
        let check = project.read(CHECK_FILE).map_err(failed)?;
        match progress(&script) {
            Some(progress) if check == CHECK_TEXT => Ok((project, progress)),
            _ => Err(format!(
                "I have not written the files in `{PROJECT_FOLDER}/`, so I neither change nor run them. Remove the \
                 folder to start over."
            )),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Does not follow symbolic links.
    pub(crate) fn read(&self, name: &str) -> io::Result<String> {
        let path = self.path(name);
        let found = fs::symlink_metadata(&path)?;
        if !found.is_file() || found.len() > MAX_FILE_BYTES {
            return Err(io::Error::other(format!(
                "`{name}` is not a regular file of the demo"
            )));
        }
        fs::read_to_string(path)
    }

    /// Edits the script and returns its text before the edit. Replaces the file, so nothing is written through a link.
    pub(crate) fn apply(&self, edit: Edit) -> io::Result<String> {
        let original = self.read(SCRIPT_FILE)?;
        let draft = format!("{SCRIPT_FILE}.new");
        match fs::remove_file(self.path(&draft)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.create(&draft, &original.replacen(edit.old, edit.new, 1))?;
        fs::rename(self.path(&draft), self.path(SCRIPT_FILE))?;
        Ok(original)
    }

    fn create(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.path(name))?;
        file.write_all(text.as_bytes())
    }
}

/// `None` if the agent has not written this script.
fn progress(script: &str) -> Option<Progress> {
    GREETINGS.iter().find_map(|greeting| {
        let broken = SCRIPT_TEXT.replace(GREETINGS[0], greeting);
        let flawed = broken.replace(TYPO_FIX.old, TYPO_FIX.new);
        let finished = flawed.replace(UNSET_NAME_FIX.old, UNSET_NAME_FIX.new);
        let states = [
            (broken, Progress::Broken),
            (flawed, Progress::Flawed),
            (finished, Progress::Finished),
        ];
        let found = states.into_iter().find(|(text, _)| text == script);
        found.map(|(_, progress)| progress)
    })
}

impl Edit {
    /// The `structuredPatch` of this edit: one hunk, with up to three lines of context on either side.
    pub(crate) fn patch(self, original: &str) -> Value {
        const CONTEXT: usize = 3;
        let lines: Vec<&str> = original.lines().collect();
        let Some(changed) = lines.iter().position(|line| line.contains(self.old)) else {
            return json!([]);
        };
        let start = changed.saturating_sub(CONTEXT);
        let end = lines.len().min(changed + CONTEXT + 1);
        let mut hunk = Vec::new();
        for (index, line) in lines.iter().enumerate().take(end).skip(start) {
            if index == changed {
                hunk.push(format!("-{line}"));
                hunk.push(format!("+{}", line.replacen(self.old, self.new, 1)));
            } else {
                hunk.push(format!(" {line}"));
            }
        }
        json!([{
            "oldStart": start + 1, "oldLines": end - start, "newStart": start + 1, "newLines": end - start,
            "lines": hunk,
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, Progress, SCRIPT_TEXT, TYPO_FIX, UNSET_NAME_FIX, progress};
    use serde_json::json;

    #[test]
    fn the_task_goes_from_broken_to_flawed_to_finished() {
        assert_eq!(progress(SCRIPT_TEXT), Some(Progress::Broken));
        let flawed = SCRIPT_TEXT
            .replace(TYPO_FIX.old, TYPO_FIX.new)
            .replace("Hello", "Good day");
        assert_eq!(progress(&flawed), Some(Progress::Flawed));
        assert_eq!(
            progress(&flawed.replace(UNSET_NAME_FIX.old, UNSET_NAME_FIX.new)),
            Some(Progress::Finished)
        );
        assert_eq!(progress("rm -rf /\n"), None);
    }

    #[test]
    fn a_patch_shows_the_change_with_three_lines_of_context() {
        let original = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let hunk = json!([{
            "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        }]);
        assert_eq!(
            Edit {
                old: "5",
                new: "five"
            }
            .patch(original),
            hunk
        );
        let last = Edit {
            old: "9",
            new: "nine",
        }
        .patch(original);
        assert_eq!(last[0]["lines"], json!([" 6", " 7", " 8", "-9", "+nine"]));
    }
}
