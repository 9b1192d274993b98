//! `UntestedVersion`: an agent's version that is older or newer than the tested ones.

use agent_client::Version;

use super::profile::Profile;

/// A version outside the tested ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntestedVersion {
    /// Older than the tested ones; otherwise newer.
    pub is_older: bool,
    /// For people.
    pub message: String,
}

impl Profile {
    /// Whether a version is older or newer than the tested ones; `None` if it is neither, or if no versions are known to
    /// be tested.
    #[must_use]
    pub fn untested_version(&self, version: Version) -> Option<UntestedVersion> {
        let (oldest, newest) = self.tested_versions?;
        let name = self.display_name;
        if Version::find(oldest).is_some_and(|oldest| version < oldest) {
            return Some(UntestedVersion {
                is_older: true,
                message: format!(
                    "{name} {version} is older than {oldest}, the oldest version that was tested: update it"
                ),
            });
        }
        if Version::find(newest).is_some_and(|newest| version > newest) {
            return Some(UntestedVersion {
                is_older: false,
                message: format!(
                    "{name} {version} is newer than {newest}, the newest version that was tested: \
                     if it misbehaves, install that one"
                ),
            });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use agent_client::Version;

    use super::Profile;
    use crate::event::AgentKind;

    #[test]
    fn only_versions_outside_the_tested_ones_are_reported() {
        let mut profile = Profile {
            display_name: "Some",
            ..Profile::new(AgentKind::built_in("some"), "some")
        };
        let reported = |profile: &Profile, version: &str| {
            let untested = profile.untested_version(Version::find(version).unwrap())?;
            Some((untested.is_older, untested.message))
        };
        assert_eq!(reported(&profile, "9.9.9"), None, "no versions are known");
        profile.tested_versions = Some(("1.2.0", "1.10.3"));
        for tested in ["1.2.0", "1.9.0", "1.10.3"] {
            assert_eq!(reported(&profile, tested), None);
        }
        let (is_older, message) = reported(&profile, "1.1.9").unwrap();
        assert!(is_older && message.starts_with("Some 1.1.9 is older than 1.2.0"));
        let (is_older, message) = reported(&profile, "1.10.4").unwrap();
        assert!(!is_older && message.starts_with("Some 1.10.4 is newer than 1.10.3"));
    }
}
