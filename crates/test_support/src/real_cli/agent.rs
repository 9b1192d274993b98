use super::environment::{self, FAKE_KEY};
use super::workspace::Workspace;
use super::{VERSIONS, isolated_env};
use std::ffi::OsString;
use std::fs;
use std::io;

/// Whose CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
}

/// Retries are few, so that errors are captured soon.
const CODEX_SETTINGS: &str = r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{base_url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 2
"#;

const GEMINI_SETTINGS: &str = r#"{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
"#;

const QWEN_SETTINGS: &str = r#"{
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}
}
"#;

impl Agent {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen];

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The program's name, and the name of the folder with its fixtures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
        }
    }

    /// On npm.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Qwen => "@qwen-code/qwen-code",
        }
    }

    /// Without its owner.
    #[must_use]
    pub(super) fn package_name(self) -> &'static str {
        let package = self.package();
        package.split_once('/').map_or(package, |(_, name)| name)
    }

    /// The versions that are captured, newest first.
    #[must_use]
    pub fn versions(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &VERSIONS,
            Self::Codex => &["0.166.0"],
            Self::Gemini => &["0.61.0"],
            Self::Qwen => &["0.24.4"],
        }
    }

    /// The whole environment of this CLI; nothing is inherited. The caller clears the environment first.
    #[must_use]
    pub fn environment(self, workspace: &Workspace, base_url: &str) -> Vec<(OsString, OsString)> {
        let home = workspace.home();
        let openai_url = format!("{base_url}/v1");
        let mut environment = match self {
            Self::Claude => return isolated_env(&home, base_url),
            Self::Codex => environment::with_base(&home, &[("OPENAI_API_KEY", FAKE_KEY)]),
            Self::Gemini => environment::with_base(
                &home,
                &[
                    ("GEMINI_API_KEY", FAKE_KEY),
                    ("GOOGLE_GEMINI_BASE_URL", base_url),
                    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
                ],
            ),
            Self::Qwen => environment::with_base(
                &home,
                &[
                    ("OPENAI_API_KEY", FAKE_KEY),
                    ("OPENAI_BASE_URL", &openai_url),
                    ("OPENAI_MODEL", "scripted-model"),
                ],
            ),
        };
        environment.push(("TMPDIR".into(), workspace.scratch().into()));
        environment
    }

    /// Writes the settings without which this CLI asks questions, or asks somebody else than the scripted model.
    pub fn write_settings(self, workspace: &Workspace, base_url: &str) -> io::Result<()> {
        let (path, settings) = match self {
            Self::Claude => return Ok(()),
            Self::Codex => (".codex/config.toml", CODEX_SETTINGS),
            Self::Gemini => (".gemini/settings.json", GEMINI_SETTINGS),
            Self::Qwen => (".qwen/settings.json", QWEN_SETTINGS),
        };
        let path = workspace.home().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, settings.replace("{base_url}", base_url))
    }
}
