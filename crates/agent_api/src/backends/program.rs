//! What backends of installed programs share: constructors, and the parts of a launch that are the same for all.

use agent_process::SpawnSpec;

use crate::backend::InstalledAgent;
use crate::error::Error;
use crate::request::RunRequest;

/// The constructors of a backend with the fields `profile` and `config`.
macro_rules! constructors {
    ($backend:ident) => {
        impl $backend {
            /// The program under its usual name, looked up in the agent's `PATH`.
            #[must_use]
            pub fn new() -> Self {
                Self::configured(crate::backend::BackendConfig::default())
            }

            /// With another program or other defaults.
            #[must_use]
            pub fn configured(config: crate::backend::BackendConfig) -> Self {
                Self {
                    profile: profile(),
                    config,
                }
            }

            /// With this program.
            #[must_use]
            pub fn program(program: impl Into<std::path::PathBuf>) -> Self {
                Self::configured(crate::backend::BackendConfig::program(program))
            }
        }

        impl Default for $backend {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}
pub(super) use constructors;

/// The program with the request's directory and environment, and no arguments yet.
pub(super) fn spawn_spec(request: &RunRequest, found: &InstalledAgent) -> SpawnSpec {
    let mut spec = SpawnSpec::new(&found.program);
    spec.cwd.clone_from(&request.options.cwd);
    spec.env = request.options.environment.policy();
    spec
}

/// A session id that is safe as an argument of its own: it cannot be taken for an option.
pub(super) fn session_argument(id: &str) -> Result<&str, Error> {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    if id.is_empty() || id.starts_with('-') || !id.bytes().all(is_safe) {
        return Err(Error::invalid(
            "a session id consists of letters, digits, `-`, `_`, `.` and `:`, and does not start with `-`",
        ));
    }
    Ok(id)
}
