//! `Stage`: a repository with one commit on `main`, a state folder beside it, and a home of their own.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use worktrees::{Created, GitEnvironment, NewWorktree, Repository, WorktreeName};

pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self::empty();
        stage.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        stage.write("b.txt", "b\n");
        stage.write(".gitignore", "/target\n.env\n");
        stage.commit("Begin");
        stage
    }

    /// Without a commit.
    pub(crate) fn empty() -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(stage.path("repository")).unwrap();
        fs::create_dir_all(stage.path("home")).unwrap();
        stage.git(&["init", "--quiet", "--initial-branch=main"]);
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn checkout(&self) -> PathBuf {
        self.path("repository")
    }

    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        [
            ("PATH", std::env::var_os("PATH").unwrap()),
            ("HOME", self.path("home").into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_AUTHOR_NAME", "A".into()),
            ("GIT_AUTHOR_EMAIL", "a@example.invalid".into()),
            ("GIT_COMMITTER_NAME", "A".into()),
            ("GIT_COMMITTER_EMAIL", "a@example.invalid".into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .into()
    }

    pub(crate) fn git_output(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(folder);
        git.env_clear().envs(self.variables());
        git.output().unwrap()
    }

    #[track_caller]
    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.git_output(folder, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.checkout(), arguments)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.checkout().join(name), text);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.checkout().join(name)).unwrap()
    }

    /// Commits everything in the main checkout. Gives the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.commit_in(&self.checkout(), message)
    }

    pub(crate) fn commit_in(&self, folder: &Path, message: &str) -> String {
        self.git_in(folder, &["add", "--all"]);
        self.git_in(folder, &["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git_in(folder, &["rev-parse", "HEAD"])
    }

    pub(crate) fn tip(&self, reference: &str) -> Option<String> {
        let name = format!("{reference}^{{commit}}");
        let output = self.git_output(&self.checkout(), &["rev-parse", "--verify", "--quiet", &name]);
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.trim().to_owned())
    }

    pub(crate) async fn repository(&self) -> Repository {
        self.find(&self.checkout()).await.unwrap()
    }

    pub(crate) async fn find(&self, folder: &Path) -> Result<Repository, worktrees::Error> {
        let environment = GitEnvironment::of(self.variables());
        Repository::find(folder, &self.path("state"), environment).await
    }

    pub(crate) async fn create(&self, name: &str) -> Created {
        let repository = self.repository().await;
        repository
            .create(&named(name), &NewWorktree::default())
            .await
            .unwrap()
    }

    /// The rescue refs, as `ref commit`.
    pub(crate) fn rescued(&self) -> Vec<String> {
        let refs = self.git(&["for-each-ref", "--format=%(refname)", "refs/ralph/rescue"]);
        refs.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn named(name: &str) -> WorktreeName {
    WorktreeName::parse(name).unwrap()
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
