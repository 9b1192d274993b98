//! `Capabilities`: what one version of the CLI can do. `Feature`: the table of what changed between versions.

use std::fmt;

use agent_client::Version;

/// Declares the features in one table: doc, name for people, oldest version.
macro_rules! features {
    ($( $(#[$meta:meta])* $feature:ident: $name:literal since $major:literal $minor:literal $patch:literal, )+) => {
        /// Something that not every version of the CLI can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Feature {
            $( #[doc = $name] #[doc = ""] $(#[$meta])* $feature, )+
        }

        impl Feature {
            /// All of them, in order of their versions.
            pub const ALL: &[Self] = &[$( Self::$feature ),+];

            /// The oldest version that is known to have it.
            ///
            /// Tested with 1.0.108, 2.0.8, 2.0.30, 2.0.31, 2.0.33, 2.0.44, 2.0.64, 2.0.77, 2.1.9, 2.1.83, 2.1.197,
            /// 2.1.247, 2.1.248 and 2.1.325. Unless a comment in the table says otherwise, the feature may have come
            /// with any version after the previous one in this list; 1.0.108 is the oldest that was tested.
            #[must_use]
            pub const fn since(self) -> Version {
                match self {
                    $( Self::$feature => Version::new($major, $minor, $patch), )+
                }
            }

            /// Its name in messages to people.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$feature => $name, )+
                }
            }
        }
    };
}

features! {
    SystemPromptFile: "`--system-prompt-file`" since 1 0 108,
    /// The caller chooses the id of a new session.
    SessionId: "`--session-id`" since 1 0 108,
    /// Messages and control requests by stdin.
    StreamInput: "`--input-format=stream-json`" since 1 0 108,
    /// Permission requests by stdout.
    PermissionHost: "`--permission-prompt-tool=stdio`" since 1 0 108,
    // 1.0.108 refuses this and `--fork-session` as unknown options.
    PartialMessages: "`--include-partial-messages`" since 2 0 8,
    /// `--resume` and `--continue` keep the session's id; 1.0.108 gives it a new one.
    StableSessionId: "resuming under the same session id" since 2 0 8,
    ForkSession: "`--fork-session`" since 2 0 8,
    // 1.0.108 accepts the option without replaying anything.
    ReplayUserMessages: "`--replay-user-messages`" since 2 0 8,
    // These five are exact: the release before refuses the option or does not know it.
    MaxBudget: "`--max-budget-usd`" since 2 0 30,
    Tools: "`--tools`" since 2 0 31,
    AppendSystemPromptFile: "`--append-system-prompt-file`" since 2 0 33,
    DontAskMode: "`--permission-mode=dontAsk`" since 2 0 44,
    NoSessionPersistence: "`--no-session-persistence`" since 2 0 64,
    // 2.0.64 refuses the two options together.
    ForkWithSessionId: "`--fork-session` with `--session-id`" since 2 0 77,
    /// Questions to the user reach the permission host. 2.0.64 has them only in its user interface.
    Questions: "`AskUserQuestion`" since 2 0 77,
    /// `system/task_started` and `system/task_notification` report background work; 2.1.9 reports nothing.
    TaskEvents: "background task events" since 2 1 83,
    // 2.1.9 does not answer control requests that it does not know.
    EndSession: "`end_session`" since 2 1 83,
    // 1.0.108 has none of these four, and no version in between was tested.
    Agents: "`--agents`" since 2 1 83,
    Effort: "`--effort`" since 2 1 83,
    MaxThinkingTokens: "`--max-thinking-tokens`" since 2 1 83,
    JsonSchema: "`--json-schema`" since 2 1 83,
    // 2.1.83 accepts the word and then runs in the default mode.
    AutoMode: "`--permission-mode=auto`" since 2 1 197,
    /// `command_lifecycle` events report the progress of a message with an id.
    MessageReceipts: "message receipts" since 2 1 247,
    /// A message is data: `/` and `@` in it have no meaning. Exact: 2.1.247 still runs the command.
    ClientComposed: "`client_composed` messages" since 2 1 248,
}

impl Feature {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The features of one installed CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    version: Option<Version>,
    features: u32,
}

impl Capabilities {
    /// The features of a known version. A version newer than all tested ones has everything.
    #[must_use]
    pub fn for_version(version: Version) -> Self {
        let available = Feature::ALL.iter().filter(|feature| feature.since() <= version);
        Self {
            version: Some(version),
            features: available.fold(0, |features, feature| features | feature.bit()),
        }
    }

    /// All features: for a program of unknown version that speaks the current protocol.
    #[must_use]
    pub fn current() -> Self {
        Self {
            version: None,
            features: u32::MAX,
        }
    }

    /// The version, if it is known.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether the CLI has this feature.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features & feature.bit() != 0
    }

    /// The same without one feature: for other programs that speak part of the protocol.
    #[must_use]
    pub fn without(self, feature: Feature) -> Self {
        Self {
            features: self.features & !feature.bit(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, Feature};
    use agent_client::Version;

    fn missing(version: Version) -> Vec<Feature> {
        let capabilities = Capabilities::for_version(version);
        let all = Feature::ALL.iter().copied();
        all.filter(|feature| !capabilities.has(*feature)).collect()
    }

    #[test]
    fn each_feature_starts_with_the_version_it_was_measured_on() {
        for &feature in Feature::ALL {
            assert!(
                Capabilities::for_version(feature.since()).has(feature),
                "{feature}"
            );
        }
        assert_eq!(missing(Version::new(2, 1, 325)), []);
        assert_eq!(missing(Version::new(3, 0, 0)), []);
        assert_eq!(
            missing(Version::new(2, 1, 197)),
            [Feature::MessageReceipts, Feature::ClientComposed],
            "what 2.1.197 lacks"
        );
        assert!(missing(Version::new(2, 0, 8)).contains(&Feature::Tools));
        assert!(missing(Version::new(1, 0, 108)).contains(&Feature::PartialMessages));
        assert_eq!(
            missing(Version::new(1, 0, 0)),
            Feature::ALL,
            "nothing is promised for versions that were not tested"
        );
    }

    #[test]
    fn an_unknown_version_is_taken_for_the_current_one() {
        let capabilities = Capabilities::current();
        assert!(Feature::ALL.iter().all(|feature| capabilities.has(*feature)));
        assert_eq!(capabilities.version(), None);
        let partly = capabilities.without(Feature::Tools);
        assert!(!partly.has(Feature::Tools) && partly.has(Feature::MaxBudget));
    }
}
