//! `committed_files()`: files as they are in a commit, whatever is checked out. The backlog reads from it what a task may
//! run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::command::{GitCommand, is_commit_id};

/// Nothing useful can be said about a backlog without it, so it may take longer than other questions.
const GIT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 64 << 20;

/// The text of those of the files that the commit has. Paths are relative to the top of the repository, with `/`. `None`
/// if git cannot say.
pub async fn committed_files(
    repository: &Path,
    commit: &str,
    paths: &[String],
) -> Option<BTreeMap<String, String>> {
    if !is_commit_id(commit) {
        return None;
    }
    // git reads one name from each line.
    let named: Vec<&String> = paths.iter().filter(|path| !path.contains(['\n', '\r'])).collect();
    let questions: String = named.iter().map(|path| format!("{commit}:{path}\n")).collect();
    let output = GitCommand::new(repository, &["cat-file", "--batch"])
        .input(questions)
        .max_bytes(MAX_BYTES)
        .output(GIT_TIMEOUT)
        .await?;
    if output.is_truncated {
        return None;
    }
    let mut rest = output.bytes.as_slice();
    let mut files = BTreeMap::new();
    for path in named {
        let content = next_object(&mut rest)?;
        if let Some(content) = content {
            files.insert(path.clone(), String::from_utf8_lossy(content).into_owned());
        }
    }
    Some(files)
}

/// The next answer: `<id> blob <size>`, the content and a line feed; or a line that says that there is no such file. The
/// outer `None` is output that git does not write.
fn next_object<'bytes>(rest: &mut &'bytes [u8]) -> Option<Option<&'bytes [u8]>> {
    let end = memchr::memchr(b'\n', rest)?;
    let (line, after) = (rest.get(..end)?, rest.get(end + 1..)?);
    let line = String::from_utf8_lossy(line);
    let mut words = line.rsplit(' ');
    let (size, kind) = (words.next()?, words.next()?);
    let Ok(size) = size.parse::<usize>() else {
        *rest = after;
        return Some(None);
    };
    let content = after.get(..size)?;
    *rest = after.get(size + 1..)?;
    Some((kind == "blob").then_some(content))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::committed_files;
    use crate::git::start_commit;

    fn git(folder: &Path, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    #[tokio::test]
    async fn files_are_read_as_they_were_committed_and_not_as_they_are_now() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        git(folder, &["init", "--quiet"]);
        std::fs::create_dir(folder.join("tasks")).unwrap();
        std::fs::write(folder.join("tasks/a.md"), "first\n\nsecond").unwrap();
        std::fs::write(folder.join("tasks/b c.md"), "").unwrap();
        git(folder, &["add", "."]);
        git(folder, &["commit", "--quiet", "--message", "x"]);
        std::fs::write(folder.join("tasks/a.md"), "changed").unwrap();
        std::fs::write(folder.join("tasks/new.md"), "new").unwrap();
        let commit = start_commit(folder).await.unwrap();
        let paths = ["tasks/new.md", "tasks/a.md", "tasks", "tasks/b c.md", "a\nb"].map(str::to_owned);
        let files = committed_files(folder, &commit, &paths).await.unwrap();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        assert_eq!(files, [("tasks/a.md", "first\n\nsecond"), ("tasks/b c.md", "")]);
        assert_eq!(committed_files(folder, "HEAD", &paths).await, None);
        assert_eq!(
            committed_files(folder, &"1".repeat(40), &paths)
                .await
                .map(|it| it.len()),
            Some(0)
        );
    }
}
