//! `PrivateRepository`: a git directory of our own over the objects and files of somebody else's repository.
//!
//! To compare files, git would run the programs that the repository's settings name: clean filters, file system monitors,
//! converters, external diff programs, and the same again in every submodule. So none of its settings are read. Its
//! objects are borrowed, its index is copied and checked, and everything that git writes goes to the private directory.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::command::GitCommand;
use crate::home::open_linked_file;

/// A larger index is not copied: git reads the commit instead, and compares the content of every file.
const MAX_INDEX_BYTES: u64 = 128 << 20;
const MAX_EXCLUDE_BYTES: u64 = 64 << 10;
/// Files such as `commondir` are one path.
const MAX_LINK_BYTES: u64 = 8 << 10;
/// Larger files are compared without their lines.
const BIG_FILE_THRESHOLD: &str = "1m";

/// Deleted when it is dropped.
#[derive(Debug)]
pub(super) struct PrivateRepository {
    directory: TempDir,
    /// The folder that contains `.git`.
    top: PathBuf,
    workspace: PathBuf,
    /// Whether the index is a copy, which has to be checked before it is used.
    pub(super) has_copied_index: bool,
}

impl PrivateRepository {
    /// Borrows the repository around a workspace. `commit` is one of its commits, by which its kind of hash is known.
    ///
    /// # Errors
    /// If there is no repository, or no place for the private directory.
    pub(super) fn borrow(workspace: &Path, commit: &str) -> io::Result<Self> {
        let workspace = fs::canonicalize(workspace)?;
        let found = Found::around(&workspace).ok_or(io::ErrorKind::NotFound)?;
        let directory = tempfile::Builder::new().prefix("ralph-git-").tempdir()?;
        let root = directory.path();
        for folder in ["refs", "objects/info", "info"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::write(root.join("HEAD"), "ref: refs/heads/none\n")?;
        let (version, extensions) = match commit.len() {
            64 => ("1", "[extensions]\nobjectFormat = sha256\n"),
            _ => ("0", ""),
        };
        let config = format!(
            "[core]\nrepositoryFormatVersion = {version}\nbare = false\nbigFileThreshold = {BIG_FILE_THRESHOLD}\n{extensions}"
        );
        fs::write(root.join("config"), config)?;
        fs::write(root.join("objects/info/alternates"), quoted(&found.objects)?)?;
        // Patterns of files to ignore: data, as `.gitignore` is.
        if let Ok(exclude) = read_start(&found.common.join("info/exclude"), MAX_EXCLUDE_BYTES) {
            fs::write(root.join("info/exclude"), exclude)?;
        }
        let has_copied_index = copy_index(&found.git.join("index"), &root.join("index")).is_ok();
        Ok(Self {
            directory,
            top: found.top,
            workspace,
            has_copied_index,
        })
    }

    /// Removes the copied index.
    pub(super) fn forget_index(&mut self) -> io::Result<()> {
        self.has_copied_index = false;
        match fs::remove_file(self.directory.path().join("index")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// A question to git about the files beneath the workspace.
    pub(super) fn command<S: AsRef<str>>(&self, arguments: &[S]) -> GitCommand {
        let root = self.directory.path();
        GitCommand::new(&self.workspace, arguments)
            .variable("GIT_DIR", root)
            .variable("GIT_WORK_TREE", &self.top)
            // The user's list of ignored files is still read: it has a place of its own.
            .variable("GIT_CONFIG_NOSYSTEM", "1")
            .variable("GIT_CONFIG_GLOBAL", root.join("none"))
    }
}

/// The parts of a repository on the disk.
struct Found {
    top: PathBuf,
    /// What `.git` is, or names.
    git: PathBuf,
    /// The same, but for a linked work tree: the directory of the main one.
    common: PathBuf,
    objects: PathBuf,
}

impl Found {
    fn around(workspace: &Path) -> Option<Self> {
        workspace.ancestors().find_map(|top| {
            let dot_git = top.join(".git");
            let git = if dot_git.is_dir() {
                dot_git
            } else {
                let link = read_link(&dot_git)?;
                top.join(link.strip_prefix("gitdir: ")?)
            };
            fs::symlink_metadata(git.join("HEAD")).ok()?;
            let common = match read_link(&git.join("commondir")) {
                Some(link) => git.join(link),
                None => git.clone(),
            };
            let objects = fs::canonicalize(common.join("objects")).ok()?;
            Some(Self {
                top: top.to_owned(),
                git,
                common,
                objects,
            })
        })
    }
}

/// The path in a file such as `commondir`.
fn read_link(file: &Path) -> Option<String> {
    let text = String::from_utf8(read_start(file, MAX_LINK_BYTES).ok()?).ok()?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The start of a regular file. A named pipe does not block.
fn read_start(file: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_linked_file(file)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// With its time: git trusts an entry that is older than the index.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let source = open_linked_file(from)?;
    let metadata = source.metadata()?;
    if metadata.len() > MAX_INDEX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut copy = File::create_new(to)?;
    io::copy(&mut source.take(MAX_INDEX_BYTES), &mut copy)?;
    copy.flush()?;
    copy.set_times(FileTimes::new().set_modified(metadata.modified()?))
}

/// A line of `alternates`, which may otherwise be a comment or more than one path.
fn quoted(path: &Path) -> io::Result<String> {
    let path = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    let path = path
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    Ok(format!("\"{path}\"\n"))
}

/// Whether a name from an index stays beneath the work tree and outside of git's own files. Git checks names that come
/// from a commit, but not those that are already in an index.
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git");
    // On Windows more characters separate parts.
    let is_portable = cfg!(unix) || !name.iter().any(|byte| matches!(byte, b'\\' | b':'));
    is_portable && name.split(|byte| *byte == b'/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::is_plain_name;

    #[test]
    fn a_name_in_an_index_may_not_lead_out_of_the_work_tree() {
        for name in ["a", "a/b.rs", "...", "a b", "-x", "a\\b\n"] {
            assert!(is_plain_name(name.as_bytes()) || !cfg!(unix), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "..",
            "../a",
            "a/../../b",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "a/.GIT/x",
        ] {
            assert!(!is_plain_name(name.as_bytes()), "{name}");
        }
    }
}
