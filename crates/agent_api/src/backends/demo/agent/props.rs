//! The small project that the agent works on, in a folder of its own. Nothing outside of it is ever touched.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The only place where anything is changed.
pub const DEMO_FOLDER: &str = "ralph-demo";
/// Says whether the job is done; run it where the agent works.
pub const DEMO_VERIFY: &str = "sh ralph-demo/check.sh";

pub(super) const SCRIPT: &str = "greet.sh";
pub(super) const CHECK: &str = "check.sh";
/// What a script may greet with; the first is there from the start.
pub(super) const GREETINGS: [&str; 2] = ["Hello", "Good day"];

pub(super) const TYPO: (&str, &str) = ("$nmae!", "$name!");
pub(super) const NO_NAME: (&str, &str) = ("name=\"$1\"", "name=\"${1:-world}\"");

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

/// A file bigger than that is not ours.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// How far the job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The script does not run.
    Broken,
    /// It runs, but not without a name: easily overlooked.
    Flawed,
    /// It does what it should.
    Finished,
}

pub(super) struct Props {
    folder: PathBuf,
}

impl Props {
    /// Looks at the project, and lays it out where there is none. Whatever is not ours stays as it is, and is not run.
    ///
    /// # Errors
    /// Why the agent should keep away, for a person.
    pub(super) fn survey(cwd: &Path) -> Result<(Self, Progress), String> {
        let folder = cwd.join(DEMO_FOLDER);
        let failed = |error: io::Error| format!("I cannot work in `{DEMO_FOLDER}/`: {error}.");
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => {
                return Err(format!(
                    "`{DEMO_FOLDER}` is a symbolic link. I only work in a folder of my own, so I leave it alone. \
                     Remove the link, or start me elsewhere."
                ));
            }
            Ok(found) if !found.is_dir() => {
                return Err(format!(
                    "`{DEMO_FOLDER}` is not a folder, so I leave it alone. Start me elsewhere."
                ));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&folder).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        }
        let props = Self { folder };
        for (name, text) in [(SCRIPT, SCRIPT_TEXT), (CHECK, CHECK_TEXT)] {
            match props.create(name, text) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
        }
        let script = props.read(SCRIPT).map_err(failed)?;
        let check = props.read(CHECK).map_err(failed)?;
        match progress(&script) {
            Some(progress) if check == CHECK_TEXT => Ok((props, progress)),
            _ => Err(format!(
                "The files in `{DEMO_FOLDER}/` are not as I know them, so I leave them alone and run none of them. \
                 Remove the folder to start over."
            )),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Never follows a link.
    pub(super) fn read(&self, name: &str) -> io::Result<String> {
        let path = self.path(name);
        let found = fs::symlink_metadata(&path)?;
        if !found.is_file() || found.len() > MAX_FILE_BYTES {
            return Err(io::Error::other(format!("`{name}` is not an ordinary file")));
        }
        fs::read_to_string(path)
    }

    /// Puts a new file in the old one's place, so that nothing is written through a link.
    pub(super) fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let draft = format!("{name}.new");
        match fs::remove_file(self.path(&draft)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.create(&draft, text)?;
        fs::rename(self.path(&draft), self.path(name))
    }

    fn create(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.path(name))?;
        file.write_all(text.as_bytes())
    }
}

/// How far a script has come, if it is one of ours.
fn progress(script: &str) -> Option<Progress> {
    GREETINGS.iter().find_map(|greeting| {
        let broken = SCRIPT_TEXT.replace(GREETINGS[0], greeting);
        let flawed = broken.replace(TYPO.0, TYPO.1);
        let finished = flawed.replace(NO_NAME.0, NO_NAME.1);
        let states = [
            (broken, Progress::Broken),
            (flawed, Progress::Flawed),
            (finished, Progress::Finished),
        ];
        let found = states.into_iter().find(|(text, _)| text == script);
        found.map(|(_, progress)| progress)
    })
}

/// The change from one text to another as one hunk, in the shape of `structuredPatch`.
pub(super) fn patch(old: &str, new: &str) -> Value {
    const CONTEXT: usize = 3;
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shorter = old.len().min(new.len());
    let before = old
        .iter()
        .zip(&new)
        .take_while(|(one, other)| one == other)
        .count();
    let after = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let after = after.min(shorter - before);
    if before == old.len() && before == new.len() {
        return json!([]);
    }
    let start = before.saturating_sub(CONTEXT);
    let trailing = after.min(CONTEXT);
    let marked = |mark: char, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| format!("{mark}{line}")).collect()
    };
    let lines = [
        marked(' ', &old[start..before]),
        marked('-', &old[before..old.len() - after]),
        marked('+', &new[before..new.len() - after]),
        marked(' ', &old[old.len() - after..old.len() - after + trailing]),
    ];
    json!([{
        "oldStart": start + 1, "oldLines": old.len() - after + trailing - start,
        "newStart": start + 1, "newLines": new.len() - after + trailing - start,
        "lines": lines.concat(),
    }])
}

#[cfg(test)]
mod tests {
    use super::{NO_NAME, Progress, SCRIPT_TEXT, TYPO, patch, progress};
    use serde_json::json;

    #[test]
    fn the_job_goes_from_broken_to_flawed_to_finished() {
        assert_eq!(progress(SCRIPT_TEXT), Some(Progress::Broken));
        let flawed = SCRIPT_TEXT.replace(TYPO.0, TYPO.1).replace("Hello", "Good day");
        assert_eq!(progress(&flawed), Some(Progress::Flawed));
        assert_eq!(
            progress(&flawed.replace(NO_NAME.0, NO_NAME.1)),
            Some(Progress::Finished)
        );
        assert_eq!(progress("rm -rf /\n"), None);
    }

    #[test]
    fn a_patch_shows_the_change_and_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let hunk = json!([{
            "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        }]);
        assert_eq!(patch(old, new), hunk);
        assert_eq!(patch(old, old), json!([]));
    }

    #[test]
    fn a_patch_can_add_and_remove_repeated_lines() {
        assert_eq!(patch("a\na\n", "a\n")[0]["lines"], json!([" a", "-a"]));
        assert_eq!(patch("a\n", "a\na\n")[0]["lines"], json!([" a", "+a"]));
        assert_eq!(patch("", "a\n")[0]["lines"], json!(["+a"]));
    }
}
