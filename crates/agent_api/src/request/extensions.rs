//! Settings by name.

use serde_json::Value;

use super::options::RunOptions;
use super::session::{PermissionMode, SessionChoice};
use crate::backend::Profile;
use crate::capability;
use crate::error::Error;

/// Turns extensions into options. What is left are the backend's own keys, which the backend has checked.
pub(crate) fn apply_extensions(options: &mut RunOptions, profile: &Profile) -> Result<(), Error> {
    let mut own = std::collections::BTreeMap::new();
    for (key, value) in std::mem::take(&mut options.extensions) {
        if profile.extension_keys.contains(&key.as_str()) {
            own.insert(key, value);
            continue;
        }
        if !profile.capabilities.contains(&key.as_str()) || !apply(options, &key, &value)? {
            return Err(Error::UnsupportedCapability {
                agent_kind: profile.kind.clone(),
                capability: key,
            });
        }
    }
    options.extensions = own;
    Ok(())
}

/// Says whether the key takes a value at all.
fn apply(options: &mut RunOptions, key: &str, value: &Value) -> Result<bool, Error> {
    let wrong = |expected: &str| Error::invalid(format!("the extension `{key}` must be {expected}"));
    let twice = || {
        Error::invalid(format!(
            "the extension `{key}` and the option it stands for are both set"
        ))
    };
    match key {
        capability::CONFIG_MODEL => {
            let model = value.as_str().filter(|model| !model.trim().is_empty());
            let model = model.ok_or_else(|| wrong("a string that is not empty"))?;
            if options.model.as_deref().is_some_and(|known| known != model) {
                return Err(twice());
            }
            options.model = Some(model.to_owned());
        }
        capability::SESSION_RESUME | capability::SESSION_FORK => {
            let choice = session(value, key == capability::SESSION_FORK)
                .ok_or_else(|| wrong(r#"{"selector":"last"} or {"selector":"id","id":"…"}"#))?;
            if options.session.as_ref().is_some_and(|known| *known != choice) {
                return Err(twice());
            }
            options.session = Some(choice);
        }
        capability::NON_INTERACTIVE => {
            if value.as_bool().ok_or_else(|| wrong("true or false"))? {
                if options.asks == Some(true) {
                    return Err(twice());
                }
                options.asks = Some(false);
            }
        }
        capability::EXTERNAL_SANDBOX => {
            if value.as_bool().ok_or_else(|| wrong("true or false"))? {
                if options
                    .permission_mode
                    .is_some_and(|mode| mode != PermissionMode::Bypass)
                {
                    return Err(twice());
                }
                options.permission_mode = Some(PermissionMode::Bypass);
            }
        }
        capability::ADD_DIRS => {
            let list = value.as_array().ok_or_else(|| wrong("a list of paths"))?;
            for path in list {
                let path = path.as_str().filter(|path| !path.is_empty());
                let path = path.ok_or_else(|| wrong("a list of paths"))?;
                options.additional_directories.push(path.into());
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn session(value: &Value, is_fork: bool) -> Option<SessionChoice> {
    let object = value.as_object()?;
    match (object.get("selector")?.as_str()?, object.get("id"), object.len()) {
        ("last", None, 1) => Some(if is_fork {
            SessionChoice::ForkLast
        } else {
            SessionChoice::Last
        }),
        ("id", Some(id), 2) => {
            let id = id.as_str().filter(|id| !id.is_empty())?.to_owned();
            Some(if is_fork {
                SessionChoice::Fork(id)
            } else {
                SessionChoice::Resume(id)
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{RunOptions, apply};
    use crate::capability;
    use crate::request::{PermissionMode, SessionChoice};

    #[test]
    fn an_extension_that_repeats_its_option_is_no_contradiction() {
        let mut options = RunOptions::new();
        options.model = Some("m".into());
        options.session = Some(SessionChoice::Last);
        options.asks = Some(false);
        options.permission_mode = Some(PermissionMode::Bypass);
        for (key, value) in [
            (capability::CONFIG_MODEL, json!("m")),
            (capability::SESSION_RESUME, json!({"selector": "last"})),
            (capability::NON_INTERACTIVE, json!(true)),
            (capability::EXTERNAL_SANDBOX, json!(true)),
        ] {
            assert!(apply(&mut options, key, &value).unwrap(), "{key}");
        }
    }

    #[test]
    fn what_is_switched_off_changes_nothing() {
        let mut options = RunOptions::new();
        options.asks = Some(true);
        options.permission_mode = Some(PermissionMode::Plan);
        for key in [capability::NON_INTERACTIVE, capability::EXTERNAL_SANDBOX] {
            assert!(apply(&mut options, key, &json!(false)).unwrap());
        }
        assert_eq!(options.asks, Some(true));
        assert_eq!(options.permission_mode, Some(PermissionMode::Plan));
    }

    #[test]
    fn resume_and_fork_contradict_each_other() {
        let mut options = RunOptions::new();
        let value = json!({"selector": "id", "id": "x"});
        assert!(apply(&mut options, capability::SESSION_RESUME, &value).unwrap());
        apply(&mut options, capability::SESSION_FORK, &value).unwrap_err();
    }

    #[test]
    fn folders_add_to_those_of_the_option() {
        let mut options = RunOptions::new();
        options.additional_directories.push("/one".into());
        apply(&mut options, capability::ADD_DIRS, &json!(["/two"])).unwrap();
        assert_eq!(options.additional_directories.len(), 2);
    }
}
