//! What each version of the CLI can do.

use std::fmt;

use crate::version::Version;

/// Something that not every version of the CLI can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// `--system-prompt-file`.
    SystemPromptFile,
    /// `--append-system-prompt-file`.
    AppendSystemPromptFile,
    /// `--session-id`: the caller chooses the id of a new session.
    SessionId,
    /// `--input-format=stream-json`: messages and control requests by stdin.
    StreamInput,
    /// `--permission-prompt-tool=stdio`: permission requests by stdout.
    PermissionHost,
    /// `--include-partial-messages`.
    PartialMessages,
    /// `--resume` and `--continue` keep the session's id.
    StableSessionId,
    /// `--fork-session`.
    ForkSession,
    /// `--replay-user-messages` really replays.
    ReplayUserMessages,
    /// `--fork-session` together with `--session-id`.
    ForkWithSessionId,
    /// `--tools`.
    Tools,
    /// `--max-budget-usd`.
    MaxBudget,
    /// `--no-session-persistence`.
    NoSessionPersistence,
    /// `--permission-mode=dontAsk`.
    DontAskMode,
    /// `AskUserQuestion` reaches the permission host.
    Questions,
    /// `system/task_started` and `system/task_notification` tell about background work.
    TaskEvents,
    /// The control request `end_session`.
    EndSession,
    /// `--permission-mode=auto`.
    AutoMode,
    /// `client_composed`: a message is data, `/` and `@` in it mean nothing.
    ClientComposed,
    /// `command_lifecycle` events tell what became of a message with an id.
    MessageReceipts,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::SystemPromptFile,
        Self::AppendSystemPromptFile,
        Self::SessionId,
        Self::StreamInput,
        Self::PermissionHost,
        Self::PartialMessages,
        Self::StableSessionId,
        Self::ForkSession,
        Self::ReplayUserMessages,
        Self::ForkWithSessionId,
        Self::Tools,
        Self::MaxBudget,
        Self::NoSessionPersistence,
        Self::DontAskMode,
        Self::Questions,
        Self::TaskEvents,
        Self::EndSession,
        Self::AutoMode,
        Self::ClientComposed,
        Self::MessageReceipts,
    ];
}

impl Feature {
    /// The oldest version that is known to have it.
    ///
    /// Tried on 1.0.108, 2.0.8, 2.0.30, 2.0.31, 2.0.33, 2.0.44, 2.0.64, 2.0.77, 2.1.9, 2.1.83, 2.1.197, 2.1.247,
    /// 2.1.248 and 2.1.325. Unless a comment says otherwise, the true bound may be any version after the one before
    /// in this list, and 1.0.108 stands for "the oldest that was tried".
    #[must_use]
    pub const fn since(self) -> Version {
        match self {
            Self::SystemPromptFile | Self::SessionId | Self::StreamInput | Self::PermissionHost => {
                Version::new(1, 0, 108)
            }
            // 1.0.108 refuses the first and the third ("unknown option"), takes `--replay-user-messages` without
            // replaying anything, and gives a resumed session a new id.
            Self::PartialMessages | Self::StableSessionId | Self::ForkSession | Self::ReplayUserMessages => {
                Version::new(2, 0, 8)
            }
            // These five are exact: the release before refuses the option or does not know it.
            Self::MaxBudget => Version::new(2, 0, 30),
            Self::Tools => Version::new(2, 0, 31),
            Self::AppendSystemPromptFile => Version::new(2, 0, 33),
            Self::DontAskMode => Version::new(2, 0, 44),
            Self::NoSessionPersistence => Version::new(2, 0, 64),
            // 2.0.64 refuses the two options together, and has the tool only in its user interface.
            Self::ForkWithSessionId | Self::Questions => Version::new(2, 0, 77),
            // 2.1.9 says nothing about background work and does not answer control requests that it does not know.
            Self::TaskEvents | Self::EndSession => Version::new(2, 1, 83),
            // 2.1.83 accepts the word and then runs in the default mode.
            Self::AutoMode => Version::new(2, 1, 197),
            Self::MessageReceipts => Version::new(2, 1, 247),
            // Exact: 2.1.247 still runs the command.
            Self::ClientComposed => Version::new(2, 1, 248),
        }
    }

    /// How a person writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SystemPromptFile => "`--system-prompt-file`",
            Self::AppendSystemPromptFile => "`--append-system-prompt-file`",
            Self::SessionId => "`--session-id`",
            Self::StreamInput => "`--input-format=stream-json`",
            Self::PermissionHost => "`--permission-prompt-tool=stdio`",
            Self::PartialMessages => "`--include-partial-messages`",
            Self::StableSessionId => "resuming under the same session id",
            Self::ForkSession => "`--fork-session`",
            Self::ReplayUserMessages => "`--replay-user-messages`",
            Self::ForkWithSessionId => "`--fork-session` with `--session-id`",
            Self::Tools => "`--tools`",
            Self::MaxBudget => "`--max-budget-usd`",
            Self::NoSessionPersistence => "`--no-session-persistence`",
            Self::DontAskMode => "`--permission-mode=dontAsk`",
            Self::Questions => "`AskUserQuestion`",
            Self::TaskEvents => "background task events",
            Self::EndSession => "`end_session`",
            Self::AutoMode => "`--permission-mode=auto`",
            Self::ClientComposed => "`client_composed` messages",
            Self::MessageReceipts => "message receipts",
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What one installed CLI can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    version: Option<Version>,
    features: u32,
}

impl Capabilities {
    /// What a known version can do. Versions newer than all measured ones can do everything.
    #[must_use]
    pub fn for_version(version: Version) -> Self {
        let available = Feature::ALL
            .into_iter()
            .filter(|feature| feature.since() <= version);
        Self {
            version: Some(version),
            features: available.fold(0, |features, feature| features | feature.bit()),
        }
    }

    /// Everything: for a program of unknown version that speaks the current dialect.
    #[must_use]
    pub fn current() -> Self {
        Self {
            version: None,
            features: Feature::ALL
                .into_iter()
                .fold(0, |features, feature| features | feature.bit()),
        }
    }

    /// The version, if it is known.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether the CLI can do this.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features & feature.bit() != 0
    }

    /// The same without one feature: for other programs that speak part of the dialect.
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
    use crate::version::Version;

    fn missing(version: Version) -> Vec<Feature> {
        let capabilities = Capabilities::for_version(version);
        Feature::ALL
            .into_iter()
            .filter(|feature| !capabilities.has(*feature))
            .collect()
    }

    #[test]
    fn each_feature_starts_with_the_version_it_was_measured_on() {
        for feature in Feature::ALL {
            assert!(
                Capabilities::for_version(feature.since()).has(feature),
                "{feature}"
            );
        }
        assert_eq!(missing(Version::new(2, 1, 325)), []);
        assert_eq!(missing(Version::new(3, 0, 0)), []);
        assert_eq!(
            missing(Version::new(2, 1, 197)),
            [Feature::ClientComposed, Feature::MessageReceipts],
            "what 2.1.197 lacks"
        );
        assert!(missing(Version::new(2, 0, 8)).contains(&Feature::Tools));
        assert!(missing(Version::new(1, 0, 108)).contains(&Feature::PartialMessages));
        assert_eq!(
            missing(Version::new(1, 0, 0)),
            Feature::ALL,
            "nothing is promised for versions nobody tried"
        );
    }

    #[test]
    fn an_unknown_version_is_taken_for_the_current_one() {
        let capabilities = Capabilities::current();
        assert!(Feature::ALL.into_iter().all(|feature| capabilities.has(feature)));
        assert_eq!(capabilities.version(), None);
        let partly = capabilities.without(Feature::Tools);
        assert!(!partly.has(Feature::Tools) && partly.has(Feature::MaxBudget));
    }
}
