//! The backends of [`AgentRegistry::builtin`], in order of preference.

use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::{Backend, BackendConfig};
use crate::registry::AgentRegistry;

/// Creates a backend from its configuration.
type Constructor = fn(BackendConfig) -> Arc<dyn Backend>;

/// In the order in which an automatic choice tries them. A new backend is one entry here.
const CONSTRUCTORS: &[Constructor] = &[
    #[cfg(feature = "claude_code")]
    |config| Arc::new(super::claude_code::ClaudeCode::configured(config)),
    #[cfg(feature = "codex")]
    |config| Arc::new(super::codex::Codex::configured(config)),
    #[cfg(feature = "gemini")]
    |config| Arc::new(super::gemini::Gemini::configured(config)),
    #[cfg(feature = "acp")]
    |config| Arc::new(super::acp::Acp::opencode().configured(config)),
    #[cfg(feature = "qwen")]
    |config| Arc::new(super::qwen::Qwen::configured(config)),
    #[cfg(feature = "acp")]
    |config| Arc::new(super::acp::Acp::copilot().configured(config)),
    #[cfg(feature = "acp")]
    |config| Arc::new(super::acp::Acp::goose().configured(config)),
    #[cfg(feature = "acp")]
    |config| Arc::new(super::acp::Acp::kiro().configured(config)),
    #[cfg(feature = "acp")]
    |config| Arc::new(super::acp::Acp::claude_acp().configured(config)),
    #[cfg(feature = "pi")]
    |config| Arc::new(super::pi::Pi::configured(config)),
    #[cfg(feature = "amp")]
    |config| Arc::new(super::amp::Amp::configured(config)),
];

impl AgentRegistry {
    /// All agents that this crate can start, in order of preference, each with its default configuration.
    #[must_use]
    pub fn builtin() -> Self {
        Self::builtin_with(|_| BackendConfig::default())
    }

    /// [`Self::builtin`] with a configuration for each backend; `configure` gets the backend's name.
    #[must_use]
    pub fn builtin_with(configure: impl Fn(&str) -> BackendConfig) -> Self {
        let mut registry = Self::new();
        for construct in CONSTRUCTORS {
            let plain = construct(BackendConfig::default());
            let backend = construct(configure(plain.profile().name()));
            // Names are unique: a test checks it.
            let _ = registry.register_shared(backend);
        }
        registry
    }
}

impl BackendConfig {
    /// A configuration that starts this program, a path or a name on `PATH`.
    #[must_use]
    pub fn program(program: impl Into<PathBuf>) -> Self {
        Self {
            program: Some(program.into()),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentRegistry, CONSTRUCTORS};

    #[test]
    fn no_two_builtin_backends_share_a_name() {
        let registry = AgentRegistry::builtin();
        assert_eq!(registry.kinds().count(), CONSTRUCTORS.len());
        for backend in registry.backends() {
            let profile = backend.profile();
            let names = [profile.kind.as_str(), profile.name()];
            for name in names.iter().chain(profile.aliases) {
                assert_eq!(
                    registry.backend(name).unwrap().profile().kind,
                    profile.kind,
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn every_builtin_backend_says_how_to_install_it_and_can_replay_its_recordings() {
        for backend in AgentRegistry::builtin().backends() {
            let profile = backend.profile();
            assert!(!profile.install_hint.is_empty(), "{}", profile.name());
            assert!(!profile.driven_by.is_empty(), "{}", profile.name());
            assert!(backend.replay_mapper().is_some(), "{}", profile.name());
        }
    }
}
