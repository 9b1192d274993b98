//! `load`: reads the `ralph.yml` of a workspace and leaves out what is not trusted.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::Timestamp;
use ralph_run::Home;

use super::digest::digest_of;
use super::filter::{LeftOut, filter};
use super::rule::Risk;
use super::scripts::{Scripts, scripts};
use super::source::Source;
use super::store::{Entry, StoreError, TrustStore};
use crate::settings::{CONFIG_FILE, ConfigFile, FileEntry, SettingsError};

/// A notice names at most this many keys.
const MAX_KEYS: usize = 10;

/// Whether the whole file applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Trusted,
    Untrusted(Reason),
}

/// Why a file is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It was never trusted.
    New,
    /// It was trusted, but these files have changed since.
    Changed(Vec<String>),
    /// Another user could change it, or the decision cannot be read.
    Unsafe(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => formatter.write_str("is not trusted"),
            Self::Changed(what) => write!(formatter, "is no longer trusted: {}", what.join(", ")),
            Self::Unsafe(why) => write!(formatter, "cannot be trusted: {why}"),
        }
    }
}

/// How a command treats trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By the stored decision.
    AsStored,
    /// Trusted for this run.
    Trust,
    /// Not trusted for this run.
    Ignore,
}

/// How trust is decided. Without a home there are no stored decisions.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    pub home: Option<&'a Home>,
    pub choice: Choice,
}

impl<'a> Policy<'a> {
    pub fn as_stored(home: &'a Home) -> Self {
        Self {
            home: Some(home),
            choice: Choice::AsStored,
        }
    }
}

/// A file after [`filter`].
#[derive(Debug)]
pub struct Loaded {
    /// The part that applies.
    pub file: ConfigFile,
    pub left_out: Vec<LeftOut>,
    pub decision: Decision,
    /// A warning about a file that is trusted for this run only.
    pub caution: Option<String>,
}

impl Loaded {
    /// Which keys were left out and why, or the caution.
    pub fn notice(&self, workspace: &Path) -> Option<String> {
        let path = super::show(&workspace.join(CONFIG_FILE).to_string_lossy());
        match &self.decision {
            Decision::Untrusted(reason) if !self.left_out.is_empty() => Some(format!(
                "`{path}` {reason}; left out: {}; `ralph trust` shows what {}",
                self.left_out_keys(),
                self.they_do()
            )),
            Decision::Untrusted(_) => None,
            Decision::Trusted => {
                let caution = self.caution.as_ref()?;
                Some(format!("`{path}` is trusted for this run only: {caution}"))
            }
        }
    }

    /// Why no run starts with this file. `None` if nothing was left out.
    pub fn refusal(&self, workspace: &Path) -> Option<String> {
        let Decision::Untrusted(reason) = &self.decision else {
            return None;
        };
        let show = |path: &Path| super::show(&path.to_string_lossy());
        (!self.left_out.is_empty()).then(|| {
            format!(
                "`{}` {reason}; it sets {}; run `ralph trust {}` to see what {} and to trust it",
                show(&workspace.join(CONFIG_FILE)),
                self.left_out_keys(),
                show(workspace),
                self.they_do()
            )
        })
    }

    fn they_do(&self) -> &'static str {
        match self.left_out.as_slice() {
            [_] => "it does",
            _ => "they do",
        }
    }

    fn left_out_keys(&self) -> String {
        let mut keys: Vec<&str> = self
            .left_out
            .iter()
            .map(|left_out| left_out.key.as_str())
            .collect();
        keys.dedup();
        let more = keys.len().saturating_sub(MAX_KEYS);
        keys.truncate(MAX_KEYS);
        let keys = keys.join(", ");
        if more > 0 {
            format!("{keys} and {more} more")
        } else {
            keys
        }
    }
}

/// Reads the workspace's `ralph.yml` once, decides whether it is trusted, and filters it.
pub fn load(workspace: &Path, policy: &Policy<'_>) -> Result<Option<Loaded>, SettingsError> {
    let Some(source) = Source::read(workspace)? else {
        return Ok(None);
    };
    let file = ConfigFile::parse(&source.path, &source.text)?;
    let wanted = filter(&file, &Decision::Untrusted(Reason::New))?.1;
    let (decision, caution) = match policy.choice {
        // There is nothing to trust.
        _ if wanted.is_empty() => (Decision::Untrusted(Reason::New), None),
        Choice::Trust => (Decision::Trusted, source.problem.clone()),
        Choice::Ignore => (Decision::Untrusted(Reason::New), None),
        Choice::AsStored => {
            let subject = Subject::new(workspace, source, &file, wanted);
            (subject.decide(policy.home), None)
        }
    };
    let (file, left_out) = filter(&file, &decision)?;
    Ok(Some(Loaded {
        file,
        left_out,
        decision,
        caution,
    }))
}

/// A file to decide about, as it was when it was read.
pub struct Subject {
    /// The workspace, with links resolved.
    pub workspace: PathBuf,
    pub path: PathBuf,
    /// What trusting it would allow.
    pub wanted: Vec<LeftOut>,
    entries: Vec<FileEntry>,
    source: Source,
    /// Read once, so that what is shown, compared and stored is the same.
    scripts: OnceLock<Scripts>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Subject")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Reads the workspace's `ralph.yml` for `ralph trust`.
pub fn look(workspace: &Path) -> Result<Option<Subject>, SettingsError> {
    let Some(source) = Source::read(workspace)? else {
        return Ok(None);
    };
    let file = ConfigFile::parse(&source.path, &source.text)?;
    let wanted = filter(&file, &Decision::Untrusted(Reason::New))?.1;
    Ok(Some(Subject::new(workspace, source, &file, wanted)))
}

impl Subject {
    fn new(workspace: &Path, source: Source, file: &ConfigFile, wanted: Vec<LeftOut>) -> Self {
        Self {
            // If it cannot be resolved, nothing is found under it.
            workspace: workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned()),
            path: source.path.clone(),
            entries: file.entries(),
            wanted,
            source,
            scripts: OnceLock::new(),
        }
    }

    /// The stored decision about exactly these files.
    pub fn decide(&self, home: Option<&Home>) -> Decision {
        let unsafe_because = |why: String| Decision::Untrusted(Reason::Unsafe(why));
        let Some(home) = home else {
            return Decision::Untrusted(Reason::New);
        };
        let entry = match TrustStore::new(home).get(&self.workspace) {
            Ok(Some(entry)) => entry,
            Ok(None) => return Decision::Untrusted(Reason::New),
            Err(error) => return unsafe_because(error.to_string()),
        };
        if let Some(problem) = &self.source.problem {
            return unsafe_because(problem.clone());
        }
        let mut changed = Vec::new();
        if entry.file != self.source.digest {
            changed.push("`ralph.yml` has changed".to_owned());
        }
        changed.extend(changed_scripts(&entry, self.scripts()));
        if changed.is_empty() {
            Decision::Trusted
        } else {
            Decision::Untrusted(Reason::Changed(changed))
        }
    }

    /// Stores that this file, as it was read, is trusted.
    ///
    /// # Errors
    /// When another user could change the file, or the decision cannot be stored.
    pub fn trust(&self, home: &Home, at: Timestamp) -> Result<(), TrustError> {
        let entry = Entry::new(
            &self.workspace,
            self.source.digest.clone(),
            self.script_digests()?,
            at,
        );
        Ok(TrustStore::new(home).put(&self.workspace, &entry)?)
    }

    /// One digest of everything that trust covers: `ralph.yml` and the scripts that it names. A client that shows the
    /// file to a person sends it back with the decision.
    ///
    /// # Errors
    /// When the file cannot be trusted.
    pub fn content_digest(&self) -> Result<String, TrustError> {
        let mut text = format!("ralph.yml {}\n", self.source.digest);
        for (word, digest) in self.script_digests()? {
            text.push_str(&format!("{word:?} {digest}\n"));
        }
        Ok(digest_of(text.as_bytes()))
    }

    fn script_digests(&self) -> Result<BTreeMap<String, String>, TrustError> {
        if let Some(problem) = &self.source.problem {
            return Err(TrustError::Unsafe {
                path: self.path.clone(),
                why: problem.clone(),
            });
        }
        let digests = self.scripts().iter().map(|(word, digest)| match digest {
            Ok(digest) => Ok((word.clone(), digest.clone())),
            Err(why) => Err(TrustError::Script {
                name: super::show(word),
                why: why.clone(),
            }),
        });
        digests.collect()
    }

    /// The scripts that settings that need trust name.
    pub fn script_names(&self) -> Vec<String> {
        self.scripts().keys().map(|word| super::show(word)).collect()
    }

    fn scripts(&self) -> &Scripts {
        self.scripts.get_or_init(|| self.read_scripts())
    }

    fn read_scripts(&self) -> Scripts {
        let runs = |entry: &&FileEntry| {
            let risk = super::filter::risk(entry);
            matches!(
                risk,
                Some(Risk::Executes | Risk::Redirects | Risk::Instructs | Risk::Unclassified)
            )
        };
        // The words of a prompt are not commands: files that it mentions may change.
        let is_prompt = |entry: &&FileEntry| entry.setting == "modes.*.prompt";
        let entries = self.entries.iter().filter(runs).filter(|entry| !is_prompt(entry));
        let entries: Vec<FileEntry> = entries.cloned().collect();
        scripts(&self.workspace, &entries)
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    #[error("`{}` cannot be trusted: {why}", path.display())]
    Unsafe { path: PathBuf, why: String },
    #[error("the script `{name}` cannot be read, so a change of it would not be noticed: {why}")]
    Script { name: String, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn changed_scripts(entry: &Entry, now: &Scripts) -> Vec<String> {
    let mut changed = Vec::new();
    for (word, digest) in &entry.scripts {
        match now.get(word) {
            None => changed.push(format!("`{}` is gone", super::show(word))),
            Some(Ok(now)) if now == digest => {}
            Some(Ok(_)) => changed.push(format!("`{}` has changed", super::show(word))),
            Some(Err(why)) => changed.push(format!("`{}` cannot be read: {why}", super::show(word))),
        }
    }
    let is_new = |word: &&String| !entry.scripts.contains_key(*word);
    changed.extend(
        now.keys()
            .filter(is_new)
            .map(|word| format!("`{}` is new", super::show(word))),
    );
    changed
}
