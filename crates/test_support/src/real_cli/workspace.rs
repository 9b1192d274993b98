use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const NOTEBOOK: &str = r#"{
 "cells": [
  {"cell_type": "code", "execution_count": null, "id": "cell-1", "metadata": {}, "outputs": [], "source": ["print('hello')"]}
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

/// A directory to work in and a home, both new, both gone when this is dropped.
#[derive(Debug)]
pub struct Workspace {
    root: TempDir,
}

impl Workspace {
    /// Makes one, with the files that the scenarios of the scripted model work on: `hello.txt`, `many.txt`, `pixel.png`,
    /// `big.txt` (2 MB) and `nb.ipynb`.
    pub fn create() -> io::Result<Self> {
        let workspace = Self {
            root: TempDir::with_prefix("ralph-test-")?,
        };
        let directory = workspace.path();
        fs::create_dir(&directory)?;
        fs::create_dir(workspace.home())?;
        fs::create_dir(workspace.scratch())?;
        fs::write(
            directory.join("hello.txt"),
            "hello world\nsecond line\nthird line\n",
        )?;
        fs::write(directory.join("many.txt"), "foo one\nfoo two\nfoo three\n")?;
        fs::write(
            directory.join("pixel.png"),
            STANDARD.decode(PIXEL).map_err(io::Error::other)?,
        )?;
        fs::write(
            directory.join("big.txt"),
            "A line of a big file, forty characters.\n".repeat(52_429),
        )?;
        fs::write(directory.join("nb.ipynb"), NOTEBOOK)?;
        Ok(workspace)
    }

    /// Where the CLI works.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.path().join("workspace")
    }

    /// The CLI's home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// For temporary files. The home is not in it: Codex makes no helper programs in a home below the temporary directory.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.root.path().join("scratch")
    }

    /// All are in here; a test may put more beside them.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// See [`isolated_env`](super::isolated_env).
    #[must_use]
    pub fn environment(&self, base_url: &str) -> Vec<(OsString, OsString)> {
        super::isolated_env(&self.home(), base_url)
    }
}
