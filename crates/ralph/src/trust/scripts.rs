//! The files that the commands of a `ralph.yml` name, and their digests.

use std::collections::BTreeMap;
use std::path::Path;

use ralph_run::open_regular_file;

use super::digest::digest_of_reader;
use crate::settings::FileEntry;

/// A larger file takes too long to read at every start.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;
const MAX_SCRIPTS: usize = 1_000;

/// By the words that name them. `Err` says why there is no digest.
pub(super) type Scripts = BTreeMap<String, Result<String, String>>;

/// The digest of every file that a word of these values names: relative to the workspace, or absolute within it. What
/// these files read in turn is not known.
pub(super) fn scripts(workspace: &Path, entries: &[FileEntry]) -> Scripts {
    let mut scripts = Scripts::new();
    let values = entries.iter().flat_map(|entry| &entry.values);
    for word in values.flat_map(|value| words(value)) {
        if scripts.contains_key(&word) {
            continue;
        }
        if let Some(digest) = digest(workspace, &word) {
            if scripts.len() >= MAX_SCRIPTS {
                let why = format!("the settings name more than {MAX_SCRIPTS} files");
                scripts.insert(word, Err(why));
                break;
            }
            scripts.insert(word, digest);
        }
    }
    scripts
}

/// The parts of a value that can be paths: as a shell would cut and unquote it, at every separator, and the value itself.
/// `$PWD` is the workspace, and `-fFILE` may name a file.
fn words(value: &str) -> Vec<String> {
    let value = value.replace("${PWD}", ".").replace("$PWD", ".");
    let is_separator = |it: char| it.is_whitespace() || "'\"`;|&<>(){}=,:$\\".contains(it);
    let unquoted = shlex::split(&value).unwrap_or_default();
    let mut words: Vec<String> = std::iter::once(value.as_str())
        .chain(value.split(is_separator))
        .map(str::to_owned)
        .chain(unquoted)
        .collect();
    let attached = words.iter().filter_map(|word| {
        let option = word.strip_prefix('-')?;
        option
            .char_indices()
            .nth(1)
            .map(|(at, _)| option[at..].to_owned())
    });
    let attached: Vec<String> = attached.collect();
    words.extend(attached);
    words.retain(|word| !word.is_empty());
    words
}

fn digest(workspace: &Path, word: &str) -> Option<Result<String, String>> {
    let path = workspace.join(word);
    if Path::new(word).is_absolute() && !path.starts_with(workspace) {
        return None;
    }
    let path = path.canonicalize().ok()?;
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    if metadata.len() > MAX_SCRIPT_BYTES {
        return Some(Err("it is larger than 64 MiB".to_owned()));
    }
    let digest = open_regular_file(&path).and_then(|file| digest_of_reader(file, MAX_SCRIPT_BYTES));
    Some(match digest {
        Ok(Some(digest)) => Ok(digest),
        Ok(None) => Err("it is larger than 64 MiB".to_owned()),
        Err(error) => Err(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{MAX_SCRIPTS, scripts};
    use crate::settings::FileEntry;

    fn entry(value: &str) -> FileEntry {
        FileEntry {
            setting: "verify".to_owned(),
            key: "verify".to_owned(),
            values: vec![value.to_owned()],
        }
    }

    #[test]
    fn scripts_are_found_in_every_spelling_of_a_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("bin/dir")).unwrap();
        for name in ["check.sh", "bin/run me", "bin/a.js"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let absolute = folder.path().join("check.sh").display().to_string();
        for (command, names) in [
            ("./check.sh", vec!["./check.sh"]),
            ("sh -c 'exec ./check.sh --all'", vec!["./check.sh"]),
            ("A=1 bash check.sh;true", vec!["check.sh"]),
            ("node --require=bin/a.js -e 1", vec!["bin/a.js"]),
            ("bin/run me", vec!["bin/run me"]),
            ("/bin/x:bin/a.js", vec!["bin/a.js"]),
            ("sh \"bin/run me\"", vec!["bin/run me"]),
            (r"sh bin/run\ me --fast", vec!["bin/run me"]),
            ("sh ./che\"\"ck.sh", vec!["./check.sh"]),
            ("sh $PWD/check.sh", vec!["./check.sh"]),
            ("sh ${PWD}/check.sh", vec!["./check.sh"]),
            ("make -fcheck.sh -f./check.sh", vec!["./check.sh", "check.sh"]),
            (&absolute, vec![absolute.as_str()]),
            ("bin/dir /bin/sh missing.sh make test", vec![]),
        ] {
            let found = scripts(folder.path(), &[entry(command)]);
            assert_eq!(
                found.keys().map(String::as_str).collect::<Vec<_>>(),
                names,
                "{command}"
            );
            assert!(found.values().all(Result::is_ok), "{command}");
        }
    }

    #[test]
    fn more_files_than_can_be_watched_cannot_be_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..=MAX_SCRIPTS).map(|number| format!("s{number:04}")).collect();
        for name in &names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = scripts(folder.path(), &[entry(&names.join(" "))]);
        assert!(
            found
                .values()
                .any(|digest| digest.as_ref().is_err_and(|why| why.contains("more than")))
        );
    }

    #[test]
    fn a_script_that_is_too_large_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("big")).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
        let found = scripts(folder.path(), &[entry("./big")]);
        assert!(found["./big"].as_ref().is_err_and(|why| why.contains("64 MiB")));
    }
}
