//! `Git`: one call of git. Every call has a deadline, asks nothing, and runs no hook.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_process::{EnvPolicy, Exit, ShortOutput, SpawnSpec, StdinMode, output_up_to};
use bytes::Bytes;

use crate::error::Error;

/// Long enough for a large checkout on a slow disk.
const TIMEOUT: Duration = Duration::from_secs(180);
pub(crate) const FETCH_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_OUTPUT_BYTES: usize = 64 << 20;
const MAX_DETAIL_CHARACTERS: usize = 600;

/// Settings that hold for every call. Hooks would run programs of the repository in folders where nobody expects them;
/// signing may ask for a passphrase; background maintenance could remove what we are about to protect.
const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=:",
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=10000",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "rerere.enabled=false",
    "rebase.updateRefs=false",
    "advice.detachedHead=false",
    "color.ui=false",
];
const VARIABLES: [(&str, &str); 8] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    // Large files stay pointers until a setup command fetches them.
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
];
/// What keeps git off the network. `GIT_ALLOW_PROTOCOL` is for versions that do not know the first one.
const OFFLINE: [(&str, &str); 2] = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];
/// What git sees of our environment: where programs, the user's settings and keys are, who the
/// user is, and how to reach the network.
const INHERITED: [&str; 29] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "USERPROFILE",
    "SystemRoot",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The variables that git gets from its caller.
#[derive(Debug, Clone, Default)]
pub struct GitEnvironment(Vec<(OsString, OsString)>);

impl GitEnvironment {
    /// Those of this process that git needs. `GIT_DIR` and its like are left out: they would lead elsewhere.
    pub fn inherit() -> Self {
        let inherited = INHERITED
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        Self(inherited.collect())
    }

    /// Exactly these.
    pub fn of<N: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        Self(variables.collect())
    }
}

/// One call of git.
#[derive(Debug)]
pub(crate) struct Git {
    folder: PathBuf,
    settings: Vec<String>,
    variables: Vec<(OsString, OsString)>,
    input: Option<Bytes>,
    timeout: Duration,
    is_online: bool,
    has_pathspecs: bool,
}

impl Git {
    pub(crate) fn new(folder: &Path, environment: &GitEnvironment) -> Self {
        Self {
            folder: folder.to_owned(),
            settings: Vec::new(),
            variables: environment.0.clone(),
            input: None,
            timeout: TIMEOUT,
            is_online: false,
            has_pathspecs: true,
        }
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Adds a setting, as `-c` does.
    pub(crate) fn setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }

    pub(crate) fn input(mut self, bytes: impl Into<Bytes>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets git fetch. A partial clone fetches what it lacks when files are checked out.
    pub(crate) fn online(mut self) -> Self {
        self.is_online = true;
        self
    }

    /// For commands that take paths and no pathspecs, and refuse to be told that they are literal.
    pub(crate) fn without_pathspecs(mut self) -> Self {
        self.has_pathspecs = false;
        self
    }

    /// The output as text without the last line break.
    pub(crate) async fn text<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<String, Error> {
        let bytes = self.bytes(arguments).await?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
    }

    pub(crate) async fn run<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<(), Error> {
        self.bytes(arguments).await.map(drop)
    }

    /// The output.
    pub(crate) async fn bytes<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<Vec<u8>, Error> {
        let called = Called::new(&self, arguments);
        let output = self.start(arguments).await?;
        match output.exit.exit {
            Exit::Code(0) if output.is_truncated => Err(called.failed("it wrote too much output".to_owned())),
            Exit::Code(0) => Ok(output.stdout),
            _ => Err(called.error(&output)),
        }
    }

    /// The output if git succeeds; nothing if it says no with exit code 1.
    pub(crate) async fn answer_bytes<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<Vec<u8>, Error> {
        let called = Called::new(&self, arguments);
        let output = self.start(arguments).await?;
        match output.exit.exit {
            Exit::Code(0) => Ok(output.stdout),
            Exit::Code(1) => Ok(Vec::new()),
            _ => Err(called.error(&output)),
        }
    }

    /// The output as text if git succeeds; `None` if it says no with exit code 1.
    pub(crate) async fn answer<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<Option<String>, Error> {
        let called = Called::new(&self, arguments);
        let output = self.start(arguments).await?;
        let text = || String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        match output.exit.exit {
            Exit::Code(0) => Ok(Some(text())),
            Exit::Code(1) => Ok(None),
            _ => Err(called.error(&output)),
        }
    }

    /// Whether git succeeds, which it says with exit code 0 or 1.
    pub(crate) async fn succeeds<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<bool, Error> {
        Ok(self.answer(arguments).await?.is_some())
    }

    async fn start<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<ShortOutput, Error> {
        let mut spec = SpawnSpec::new("git");
        spec.cwd = Some(self.folder.clone());
        spec.args = vec!["--no-pager".into()];
        if self.has_pathspecs {
            spec.args.push("--literal-pathspecs".into());
        }
        for setting in SETTINGS
            .iter()
            .copied()
            .chain(self.settings.iter().map(String::as_str))
        {
            spec.args.extend(["-c".into(), setting.into()]);
        }
        spec.args
            .extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        let offline = OFFLINE.iter().filter(|_| !self.is_online);
        let fixed = VARIABLES.iter().chain(offline);
        let set = fixed.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        spec.env = EnvPolicy::Clear {
            set: set.chain(self.variables.iter().cloned()).collect(),
        };
        if let Some(input) = &self.input {
            spec.stdin = StdinMode::Bytes(input.clone());
        }
        output_up_to(spec, self.timeout, MAX_OUTPUT_BYTES)
            .await
            .map_err(|source| Error::GitNotStarted {
                folder: self.folder.clone(),
                source,
            })
    }
}

/// A call, for error messages.
struct Called {
    command: String,
    folder: PathBuf,
    timeout: Duration,
}

impl Called {
    fn new<S: AsRef<OsStr>>(git: &Git, arguments: &[S]) -> Self {
        let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
        let command: Vec<_> = words.take(3).collect();
        Self {
            command: command.join(" "),
            folder: git.folder.clone(),
            timeout: git.timeout,
        }
    }

    fn error(self, output: &ShortOutput) -> Error {
        if output.exit.exit == Exit::TimedOut {
            return Error::GitTimedOut {
                command: self.command,
                folder: self.folder,
                seconds: self.timeout.as_secs(),
            };
        }
        let stderr = String::from_utf8_lossy(&output.exit.stderr_tail);
        let lines = stderr.trim().lines().map(|line| {
            ["fatal: ", "error: "]
                .iter()
                .find_map(|prefix| line.strip_prefix(prefix))
                .unwrap_or(line)
        });
        let detail: String = lines
            .collect::<Vec<_>>()
            .join("; ")
            .chars()
            .take(MAX_DETAIL_CHARACTERS)
            .collect();
        if detail.is_empty() {
            let exit = output.exit.exit.to_string();
            return self.failed(exit);
        }
        self.failed(detail)
    }

    fn failed(self, detail: String) -> Error {
        Error::Git {
            command: self.command,
            folder: self.folder,
            detail,
        }
    }
}

/// The items of output with `-z`.
pub(crate) fn zero_separated(bytes: &[u8]) -> Vec<&[u8]> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|item| !item.is_empty())
        .collect()
}

/// A path as git wrote it.
pub(crate) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    {
        PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Whether this is the whole name of a commit: nothing else from a file is given to git as one.
pub(crate) fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
