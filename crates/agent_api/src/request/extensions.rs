//! Extension keys: settings that only one backend has.

use agent_client::RunOptions;

use crate::backend::Profile;
use crate::capability;
use crate::error::Error;

/// Keys that earlier versions took as extensions, and the option to set instead.
const OPTIONS_BY_OLD_KEY: [(&str, &str); 6] = [
    (capability::CONFIG_MODEL, "model"),
    (capability::SESSION_RESUME, "session"),
    (capability::SESSION_FORK, "session"),
    (capability::NON_INTERACTIVE, "permission_host"),
    (capability::EXTERNAL_SANDBOX, "permission_mode"),
    (capability::ADD_DIRS, "additional_directories"),
];

/// Refuses extensions that the backend does not have.
pub(crate) fn refuse_unknown_extensions(options: &RunOptions, profile: &Profile) -> Result<(), Error> {
    let mut keys = options.extensions.keys();
    let unknown = keys.find(|key| !profile.extension_keys.contains(&key.as_str()));
    let Some(key) = unknown else { return Ok(()) };
    let option = OPTIONS_BY_OLD_KEY.iter().find(|(old, _)| old == key);
    Err(match option {
        Some((_, option)) => Error::invalid(format!(
            "`{key}` is not an extension: set the option `{option}` instead"
        )),
        None => Error::UnsupportedCapability {
            agent_kind: profile.kind.clone(),
            capability: key.clone(),
        },
    })
}
