//! `TaskFolder`: the task files of a repository on disk.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use ralph_run::open_regular_file;

use crate::backlog::Backlog;
use crate::draft::Draft;
use crate::parse::{ParsedFile, parse_task};

/// Where tasks are, relative to the top of the repository.
pub const TASKS_FOLDER: &str = "ralph/tasks";
/// A task is read by people and becomes a prompt.
const MAX_FILE_BYTES: u64 = 256 << 10;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("`{}` has changed meanwhile; nothing was written, try again", path.display())]
    Changed { path: PathBuf },
    /// It would lead out of the repository.
    #[error("`{}` is a link; tasks are kept in the repository only", path.display())]
    Link { path: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFolder {
    repository: PathBuf,
}

impl TaskFolder {
    pub fn new(repository: impl Into<PathBuf>) -> Self {
        Self {
            repository: repository.into(),
        }
    }

    pub fn repository(&self) -> &Path {
        &self.repository
    }

    /// All tasks. A folder that does not exist has none.
    pub fn load(&self) -> Result<Backlog, FolderError> {
        Ok(Backlog::new(self.parse()?))
    }

    /// All task files, by name.
    pub fn parse(&self) -> Result<Vec<ParsedFile>, FolderError> {
        self.refuse_links()?;
        let path = self.repository.join(TASKS_FOLDER);
        let failed = |source| FolderError::Read {
            path: path.clone(),
            source,
        };
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let (mut names, mut ignored) = (Vec::new(), Vec::new());
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "README.md" {
                continue;
            }
            match name.ends_with(".md") {
                true => names.push(name),
                false => ignored.push(name),
            }
        }
        names.sort_unstable();
        let parse = |name: String| {
            let file = format!("{TASKS_FOLDER}/{name}");
            match self.read(&file) {
                Ok(text) => parse_task(&file, &text),
                Err(error) => ParsedFile::unreadable(&file, format!("cannot be read: {error}")),
            }
        };
        let ignored = ignored
            .iter()
            .map(|name| ParsedFile::ignored(&format!("{TASKS_FOLDER}/{name}")));
        Ok(names.into_iter().map(parse).chain(ignored).collect())
    }

    /// The text of a task file. Links are not followed, and pipes are not waited for.
    pub fn read(&self, file: &str) -> io::Result<String> {
        let mut text = String::new();
        let file = open_regular_file(&self.repository.join(file))?;
        file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
        match text.len() as u64 > MAX_FILE_BYTES {
            true => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it has more than {} KiB", MAX_FILE_BYTES >> 10),
            )),
            false => Ok(text),
        }
    }

    /// Writes new tasks: all of them, or none.
    pub fn create(&self, drafts: &[Draft]) -> Result<(), FolderError> {
        self.refuse_links()?;
        let folder = self.repository.join(TASKS_FOLDER);
        fs::create_dir_all(&folder).map_err(|source| FolderError::Write { path: folder, source })?;
        let mut written = Vec::new();
        for draft in drafts {
            let path = self.repository.join(draft.file());
            let result = self.write(&path, draft.render().as_bytes(), Existing::Refused);
            if let Err(source) = result {
                for path in written {
                    // They were made a moment ago, and nobody has been told about them.
                    let _ = fs::remove_file(path);
                }
                return Err(FolderError::Write { path, source });
            }
            written.push(path);
        }
        Ok(())
    }

    /// Replaces the text of a file, if it is still the one that was read.
    pub fn replace(&self, file: &str, before: &str, after: &str) -> Result<(), FolderError> {
        self.refuse_links()?;
        let path = self.repository.join(file);
        let now = self.read(file).map_err(|source| FolderError::Read {
            path: path.clone(),
            source,
        })?;
        if now != before {
            return Err(FolderError::Changed { path });
        }
        if before == after {
            return Ok(());
        }
        let written = self.write(&path, after.as_bytes(), Existing::Replaced);
        written.map_err(|source| FolderError::Write { path, source })
    }

    /// The file appears with its whole content or not at all, with the permissions that other files of the user have.
    fn write(&self, path: &Path, content: &[u8], existing: Existing) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.repository);
        let permissions = match existing {
            Existing::Replaced => fs::metadata(path)?.permissions(),
            Existing::Refused => usual_permissions(folder)?,
        };
        let mut file = tempfile::Builder::new().prefix(".task-").tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().set_permissions(permissions)?;
        file.as_file().sync_all()?;
        match existing {
            Existing::Replaced => drop(file.persist(path)?),
            Existing::Refused => drop(file.persist_noclobber(path)?),
        }
        Ok(())
    }

    /// The folder comes with the repository, which must not choose where else files are read or written.
    fn refuse_links(&self) -> Result<(), FolderError> {
        let mut path = self.repository.clone();
        for part in TASKS_FOLDER.split('/') {
            path.push(part);
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(FolderError::Link { path });
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Replaced,
    Refused,
}

/// Read and write where the folder has it: what the umask of the user gives new files.
#[cfg(unix)]
fn usual_permissions(folder: &Path) -> io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(folder)?.permissions().mode();
    Ok(fs::Permissions::from_mode(mode & 0o666 | 0o600))
}

#[cfg(not(unix))]
fn usual_permissions(folder: &Path) -> io::Result<fs::Permissions> {
    let mut permissions = fs::metadata(folder)?.permissions();
    permissions.set_readonly(false);
    Ok(permissions)
}
