use crate::script::Script;
use crate::{BinaryNotBuilt, bin};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The variable that names the script; `--script=PATH` does the same.
pub const SCRIPT_VARIABLE: &str = "FAKE_CLAUDE_SCRIPT";

/// The exit code of `fake_claude` when the script could not be played: a failed expectation, or a script it cannot read.
/// Its stderr says which step and why.
pub const SCRIPT_FAILED: u8 = 97;

/// A script made ready to be run. The script's file lives as long as this value and its clones.
#[derive(Clone, Debug)]
pub struct ScriptedAgent {
    /// `fake_claude`.
    pub program: PathBuf,
    /// `--script=PATH`: give these, or [`environment`](Self::environment); one is enough.
    pub arguments: Vec<OsString>,
    /// `FAKE_CLAUDE_SCRIPT=PATH`, for callers that choose the arguments themselves.
    pub environment: Vec<(OsString, OsString)>,
    script: PathBuf,
    directory: Option<Arc<TempDir>>,
}

/// A script could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// `fake_claude` is missing.
    #[error(transparent)]
    NotBuilt(#[from] BinaryNotBuilt),
    /// The script could not be written.
    #[error("cannot write the script `{}`", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl ScriptedAgent {
    pub(super) fn in_temporary_directory(script: &Script) -> Result<Self, InstallError> {
        let directory = TempDir::with_prefix("fake-claude-").map_err(|source| InstallError::Write {
            path: std::env::temp_dir(),
            source,
        })?;
        let mut agent = Self::in_directory(script, directory.path())?;
        agent.directory = Some(Arc::new(directory));
        Ok(agent)
    }

    pub(super) fn in_directory(script: &Script, directory: &Path) -> Result<Self, InstallError> {
        let path = directory.join("script.json");
        let write = || fs::write(&path, serde_json::to_vec_pretty(script)?);
        write().map_err(|source| InstallError::Write {
            path: path.clone(),
            source,
        })?;
        let mut argument = OsString::from("--script=");
        argument.push(&path);
        Ok(Self {
            program: bin("fake_claude")?,
            arguments: vec![argument],
            environment: vec![(SCRIPT_VARIABLE.into(), path.clone().into())],
            script: path,
            directory: None,
        })
    }

    /// The script's file. Its directory is there for whatever else the test needs, as long as the agent lives.
    #[must_use]
    pub fn script(&self) -> &Path {
        &self.script
    }

    /// An executable that plays the script whatever arguments and environment it is given: for code under test that
    /// only takes a program's path.
    #[cfg(unix)]
    pub fn as_program(&self) -> io::Result<PathBuf> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = self.script.with_file_name("claude");
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let text = format!(
            "#!/bin/sh\nexec {} --script={} \"$@\"\n",
            quoted(&self.program),
            quoted(&self.script)
        );
        // Renamed into place: a file that is still open for writing somewhere cannot be executed (ETXTBSY).
        let draft = self.script.with_file_name("claude.draft");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o700)
            .open(&draft)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        drop(file);
        fs::rename(&draft, &path)?;
        Ok(path)
    }
}
