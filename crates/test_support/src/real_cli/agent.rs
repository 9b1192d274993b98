//! The agents whose real CLIs are tested: package, versions, isolated environment and settings.

use super::environment::{self, FAKE_KEY};
use super::install;
use super::runnable::CACHE;
use super::workspace::Workspace;
use super::{VERSIONS, isolated_env};
use std::ffi::OsString;
use std::fs;
use std::io;

/// An agent with a CLI on npm.
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
    /// opencode.
    Opencode,
    /// GitHub Copilot CLI.
    Copilot,
}

/// Few retries, so that an API error ends the run soon.
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

/// The prices give the run a cost: USD per million tokens. `small_model` names the session.
const OPENCODE_SETTINGS: &str = r#"{
  "model": "scripted/scripted-model",
  "small_model": "scripted/scripted-model",
  "enabled_providers": ["scripted"],
  "autoupdate": false,
  "share": "disabled",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Scripted",
      "options": {"baseURL": "{base_url}/v1", "apiKey": "{env:OPENAI_API_KEY}"},
      "models": {
        "scripted-model": {
          "name": "Scripted model",
          "tool_call": true,
          "reasoning": true,
          "limit": {"context": 200000, "output": 8192},
          "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
        }
      }
    }
  }
}
"#;

impl Agent {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Opencode,
        Self::Copilot,
    ];

    /// The agent of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The name of the program and of the folder with its fixtures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
        }
    }

    /// The package on npm.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Qwen => "@qwen-code/qwen-code",
            Self::Opencode => "opencode-ai",
            Self::Copilot => "@github/copilot",
        }
    }

    /// The package without its scope.
    #[must_use]
    pub(super) fn package_name(self) -> &'static str {
        let package = self.package();
        package.split_once('/').map_or(package, |(_, name)| name)
    }

    /// The versions that are installed and recorded, newest first.
    #[must_use]
    pub fn versions(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &VERSIONS,
            Self::Codex => &["0.166.0"],
            Self::Gemini => &["0.61.0"],
            Self::Qwen => &["0.24.4"],
            Self::Opencode => &["1.18.33"],
            Self::Copilot => &["1.0.102"],
        }
    }

    /// The version that everything is written for.
    #[must_use]
    pub fn current_version(self) -> &'static str {
        self.versions().first().copied().unwrap_or_default()
    }

    /// The whole environment of this CLI. The caller clears the inherited environment first.
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
            Self::Opencode => environment::with_base(
                &home,
                &[
                    ("OPENAI_API_KEY", FAKE_KEY),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
                    // It installs a package of its own at each start, 20 MB into a new home.
                    ("npm_config_offline", "true"),
                ],
            ),
            Self::Copilot => {
                let mut environment = environment::with_base(
                    &home,
                    &[
                        ("COPILOT_OFFLINE", "true"),
                        ("COPILOT_AUTO_UPDATE", "false"),
                        ("COPILOT_PROVIDER_BASE_URL", &openai_url),
                        ("COPILOT_PROVIDER_API_KEY", FAKE_KEY),
                        ("COPILOT_MODEL", "claude-sonnet-4.5"),
                    ],
                );
                // It unpacks itself there, 235 MB, unless that was done before.
                let unpacked = install::directory_of(self, self.current_version());
                environment.extend(
                    unpacked.map(|directory| ("XDG_CACHE_HOME".into(), directory.join(CACHE).into())),
                );
                environment
            }
        };
        environment.push(("TMPDIR".into(), workspace.scratch().into()));
        environment
    }

    /// Writes the settings that keep this CLI from asking questions and point it at the scripted model.
    pub fn write_settings(self, workspace: &Workspace, base_url: &str) -> io::Result<()> {
        let (path, settings) = match self {
            // Their environment is enough.
            Self::Claude | Self::Copilot => return Ok(()),
            Self::Codex => (".codex/config.toml", CODEX_SETTINGS),
            Self::Gemini => (".gemini/settings.json", GEMINI_SETTINGS),
            Self::Qwen => (".qwen/settings.json", QWEN_SETTINGS),
            Self::Opencode => (".config/opencode/opencode.json", OPENCODE_SETTINGS),
        };
        let path = workspace.home().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, settings.replace("{base_url}", base_url))
    }
}
