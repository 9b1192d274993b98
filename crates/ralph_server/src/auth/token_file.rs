//! `TokenFile`: the tokens that `ralph token` makes, as digests in the state directory. The server reads it, too.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use ralph_run::{Durability, write_atomic};
use serde::{Deserialize, Serialize};

use super::error::AuthError;
use super::principal::Scope;
use super::secret::{Digest, digest_from_hex, hex, new_secret, sha256};
use super::server_token::is_exposed;
use super::start_limits::StartLimits;

const FILE_NAME: &str = "server-tokens.json";
const USE_FILE_NAME: &str = "server-token-use.json";
const VERSION: u32 = 1;
/// Tells secret scanners and people what it is.
const PREFIX: &str = "ralph_";
const MAX_NAME_BYTES: usize = 64;
const MAX_TOKENS: usize = 1_000;
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The tokens of a state directory.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

/// What a new token is to allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Its name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// The directories it is confined to; all if empty.
    pub workspaces: Vec<PathBuf>,
    /// What runs that it starts may use.
    pub limits: StartLimits,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
}

/// A token, without the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Its name.
    pub name: String,
    sha256: String,
    /// What it allows.
    pub scope: Scope,
    /// The directories it is confined to; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<PathBuf>,
    /// What runs that it starts may use.
    #[serde(default, skip_serializing_if = "StartLimits::is_unlimited")]
    pub limits: StartLimits,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl TokenEntry {
    pub(super) fn digest(&self) -> Option<Digest> {
        digest_from_hex(&self.sha256)
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    tokens: Vec<TokenEntry>,
}

/// Why a token cannot be made, listed or revoked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The name cannot be used.
    #[error(
        "`{0}` is not a token name: use 1 to {MAX_NAME_BYTES} of the characters A-Z, a-z, 0-9, `.`, `_` and `-`"
    )]
    BadName(String),
    /// There is one of this name.
    #[error("there is already a token named `{0}`; revoke it first with `ralph token revoke {0}`")]
    Taken(String),
    /// There is none of this name.
    #[error("there is no token named `{0}`; `ralph token list` shows all of them")]
    Unknown(String),
    /// There are too many.
    #[error("there are already {MAX_TOKENS} tokens; revoke some first")]
    TooMany,
    /// The file holds something else.
    #[error("cannot read the tokens in `{}`: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file, or the random numbers, cannot be used.
    #[error(transparent)]
    Auth(#[from] AuthError),
}

impl TokenFile {
    /// The tokens of a state directory.
    #[must_use]
    pub fn in_directory(state_directory: &Path) -> Self {
        Self {
            path: state_directory.join(FILE_NAME),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn use_path(&self) -> PathBuf {
        self.path.with_file_name(USE_FILE_NAME)
    }

    /// Makes a token. Returns its secret, which is not kept anywhere. A running server accepts it at once.
    ///
    /// # Errors
    /// If the name is taken or invalid, or the file cannot be used.
    pub fn create(&self, new: NewToken, now: Timestamp) -> Result<String, TokenError> {
        if !is_name(&new.name) {
            return Err(TokenError::BadName(new.name));
        }
        let _locked = self.lock()?;
        let mut tokens = self.load()?;
        if tokens.iter().any(|token| token.name == new.name) {
            return Err(TokenError::Taken(new.name));
        }
        if tokens.len() >= MAX_TOKENS {
            return Err(TokenError::TooMany);
        }
        let secret = format!("{PREFIX}{}", new_secret()?);
        tokens.push(TokenEntry {
            sha256: hex(&sha256(secret.as_bytes())),
            name: new.name,
            scope: new.scope,
            workspaces: new.workspaces,
            limits: new.limits,
            created_at: now,
            expires_at: new.expires_at,
        });
        self.save(tokens)?;
        Ok(secret)
    }

    /// Removes a token. A running server refuses it at once and closes what was opened with it.
    ///
    /// # Errors
    /// If there is no such token, or the file cannot be used.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        let _locked = self.lock()?;
        let mut tokens = self.load()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            return Err(TokenError::Unknown(name.to_owned()));
        }
        let bytes = self.encode(tokens)?;
        // A full disk takes no new file, but what becomes shorter fits into the old one. If that is interrupted, the
        // file cannot be read, and no named token is accepted.
        write_atomic(&self.path, &bytes, Durability::Synced)
            .or_else(|_| self.overwrite(&bytes))
            .map_err(|error| self.unusable(error))
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read, others can read it, or it holds something else.
    pub fn load(&self) -> Result<Vec<TokenEntry>, TokenError> {
        let file = match ralph_run::open_regular_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(|error| self.unusable(error))?,
        };
        if is_exposed(&file).map_err(|error| self.unusable(error))? {
            return Err(AuthError::Exposed(self.path.clone()).into());
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| self.unusable(error))?;
        let damaged = |reason: String| TokenError::Damaged {
            path: self.path.clone(),
            reason,
        };
        let saved: Saved = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if saved.version != VERSION {
            let reason = format!("its version is {}, this ralph reads {VERSION}", saved.version);
            return Err(damaged(reason));
        }
        Ok(saved.tokens)
    }

    /// When each token was last used, by name. A server writes it once a minute.
    #[must_use]
    pub fn last_uses(&self) -> BTreeMap<String, Timestamp> {
        let read = ralph_run::open_regular_file(&self.use_path()).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        read.ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    pub(super) fn save_uses(&self, uses: &BTreeMap<String, Timestamp>) {
        let bytes = serde_json::to_vec(uses).unwrap_or_default();
        if let Err(error) = write_atomic(&self.use_path(), &bytes, Durability::Cached) {
            tracing::warn!(%error, "cannot save when tokens were last used");
        }
    }

    fn save(&self, tokens: Vec<TokenEntry>) -> Result<(), TokenError> {
        let bytes = self.encode(tokens)?;
        write_atomic(&self.path, &bytes, Durability::Synced).map_err(|error| self.unusable(error))
    }

    fn encode(&self, tokens: Vec<TokenEntry>) -> Result<Vec<u8>, TokenError> {
        let saved = Saved {
            version: VERSION,
            tokens,
        };
        serde_json::to_vec_pretty(&saved).map_err(|error| self.unusable(error.into()))
    }

    fn overwrite(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        // On a full disk, more than is there would be cut off half way.
        if bytes.len() as u64 > file.metadata()?.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    }

    /// Held by whoever changes the file.
    fn lock(&self) -> Result<File, TokenError> {
        let path = self.path.with_extension("lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let locked = options.open(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|source| AuthError::Unusable { path, source }.into())
    }

    fn unusable(&self, source: io::Error) -> TokenError {
        AuthError::Unusable {
            path: self.path.clone(),
            source,
        }
        .into()
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::{NewToken, TokenError, TokenFile};
    use crate::auth::{Scope, StartLimits};
    use jiff::Timestamp;

    fn new(name: &str) -> NewToken {
        NewToken {
            name: name.to_owned(),
            scope: Scope::Read,
            workspaces: Vec::new(),
            limits: StartLimits::default(),
            expires_at: None,
        }
    }

    #[test]
    fn a_token_is_kept_as_a_digest_for_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::in_directory(directory.path());
        let secret = file.create(new("ci"), Timestamp::now()).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(
            secret.starts_with("ralph_") && !text.contains(&secret[6..]),
            "{text}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for entry in std::fs::read_dir(directory.path()).unwrap() {
                assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077, 0);
            }
        }
        assert!(matches!(
            file.create(new("ci"), Timestamp::now()),
            Err(TokenError::Taken(_))
        ));
        file.revoke("ci").unwrap();
        assert!(matches!(file.revoke("ci"), Err(TokenError::Unknown(_))));
        assert!(file.load().unwrap().is_empty());
    }

    #[test]
    fn a_token_can_be_revoked_when_no_new_file_can_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::in_directory(directory.path());
        file.create(new("stolen"), Timestamp::now()).unwrap();
        file.create(new("ci"), Timestamp::now()).unwrap();
        // A file whose draft cannot be made, as on a full disk.
        let full = TokenFile {
            path: directory.path().join("x".repeat(250)),
        };
        std::fs::rename(file.path(), full.path()).unwrap();
        assert!(full.create(new("another"), Timestamp::now()).is_err());
        full.revoke("stolen").unwrap();
        let names: Vec<String> = full.load().unwrap().into_iter().map(|token| token.name).collect();
        assert_eq!(names, ["ci"]);
    }

    #[test]
    fn a_name_that_could_be_taken_for_something_else_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::in_directory(directory.path());
        for name in ["", "a b", "../x", "-x", "a\n", "é", &"x".repeat(65)] {
            assert!(
                matches!(
                    file.create(new(name), Timestamp::now()),
                    Err(TokenError::BadName(_))
                ),
                "{name}"
            );
        }
    }

    #[test]
    fn limits_are_kept_and_a_file_without_them_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::in_directory(directory.path());
        let limits = StartLimits {
            permission_modes: vec![ralph_run::control::PermissionChoice::AcceptEdits],
            max_live_runs: Some(3),
            max_run_cost_micro_usd: Some(5),
            max_day_cost_micro_usd: Some(20),
        };
        let limited = NewToken {
            limits: limits.clone(),
            ..new("limited")
        };
        file.create(limited, Timestamp::now()).unwrap();
        file.create(new("free"), Timestamp::now()).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        // As earlier versions wrote it.
        assert_eq!(text.matches("limits").count(), 1, "{text}");
        let [limited, free] = &file.load().unwrap()[..] else {
            panic!("two tokens");
        };
        assert_eq!((&limited.limits, free.limits.is_unlimited()), (&limits, true));
        // A limit that this version does not know cannot be kept to, so the token is not accepted.
        let newer = text.replace("max_live_runs", "max_sunday_runs");
        std::fs::write(file.path(), newer).unwrap();
        assert!(matches!(file.load(), Err(TokenError::Damaged { .. })));
    }

    #[test]
    fn a_file_that_is_damaged_or_of_a_later_version_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::in_directory(directory.path());
        file.create(new("ci"), Timestamp::now()).unwrap();
        for text in [
            "{",
            r#"{"version":2,"tokens":[]}"#,
            r#"{"version":1,"tokens":[{"name":"x"}]}"#,
        ] {
            // As the file is: for its user alone.
            std::fs::write(file.path(), text).unwrap();
            assert!(
                matches!(
                    file.create(new("b"), Timestamp::now()),
                    Err(TokenError::Damaged { .. })
                ),
                "{text}"
            );
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
        }
    }
}
