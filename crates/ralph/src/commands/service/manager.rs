//! `Manager`: the service manager of a system, its unit, and the commands that enable and disable it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::home::absolute;

const UNIT: &str = "ralph-agents.service";
const LABEL: &str = "dev.ralph.agents";

/// A service manager, and what it needs for our service.
#[derive(Debug)]
pub(super) struct Manager {
    kind: Kind,
    /// Where the unit is.
    pub(super) path: PathBuf,
    /// After the unit was written.
    pub(super) start: Vec<Step>,
    /// Before it is removed.
    pub(super) stop: Vec<Step>,
    /// What else the user may want to do.
    pub(super) hint: Option<&'static str>,
    query: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Systemd,
    Launchd,
}

/// A command of the service manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step(Vec<String>);

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.0.join(" "))
    }
}

impl Step {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }

    pub(super) fn run(&self) -> anyhow::Result<()> {
        let Some((program, args)) = self.0.split_first() else {
            return Ok(());
        };
        let output = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start `{program}`"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            match said.trim() {
                "" => bail!("{}", output.status),
                said => bail!("{said}"),
            }
        }
        Ok(())
    }
}

impl Manager {
    pub(super) fn of_this_system(variables: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let home =
            absolute(variables, "HOME").context("HOME does not say where to write the service's unit")?;
        match cfg!(target_os = "macos") {
            true => Ok(Self::launchd(&home)),
            false => {
                let config = absolute(variables, "XDG_CONFIG_HOME");
                Ok(Self::systemd(&config.unwrap_or_else(|| home.join(".config"))))
            }
        }
    }

    fn systemd(config: &Path) -> Self {
        let systemctl = |words: &[&str]| Step::new(&[&["systemctl", "--user"], words].concat());
        Self {
            kind: Kind::Systemd,
            path: config.join("systemd/user").join(UNIT),
            start: vec![
                systemctl(&["daemon-reload"]),
                systemctl(&["enable", UNIT]),
                // Also where an older unit is running.
                systemctl(&["restart", UNIT]),
            ],
            stop: vec![systemctl(&["disable", "--now", UNIT])],
            hint: Some("to keep agents up while you are logged out: `loginctl enable-linger`"),
            query: systemctl(&["is-active", "--quiet", UNIT]),
        }
    }

    fn launchd(home: &Path) -> Self {
        let path = home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
        let file = path.to_string_lossy().into_owned();
        Self {
            kind: Kind::Launchd,
            start: vec![Step::new(&["launchctl", "load", "-w", &file])],
            stop: vec![Step::new(&["launchctl", "unload", "-w", &file])],
            hint: None,
            query: Step::new(&["launchctl", "list", LABEL]),
            path,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.query.run().is_ok()
    }

    /// The text of the unit.
    pub(super) fn unit(&self, program: &Path, variables: &[(String, String)]) -> anyhow::Result<String> {
        let program = program
            .to_str()
            .with_context(|| format!("the path of this program is not UTF-8: `{}`", program.display()))?;
        let mut variables = variables.to_vec();
        variables.sort_unstable();
        for (name, value) in &variables {
            if value.contains(['\n', '\r']) {
                bail!(
                    "the variable `{name}` has several lines, which no service manager can pass on; unset it"
                );
            }
        }
        Ok(match self.kind {
            Kind::Systemd => systemd_unit(program, &variables),
            Kind::Launchd => launchd_plist(program, &variables),
        })
    }
}

/// `KillMode=process`: the runs are children of the service and must outlive it.
fn systemd_unit(program: &str, variables: &[(String, String)]) -> String {
    let mut unit = "[Unit]\nDescription=ralph agents\n\n[Service]\n".to_owned();
    // In `ExecStart`, `$` would begin a variable.
    let program = quoted(program).replace('$', "$$");
    unit.push_str(&format!("ExecStart={program} agents up\n"));
    for (name, value) in variables {
        unit.push_str(&format!("Environment={}\n", quoted(&format!("{name}={value}"))));
    }
    unit.push_str(
        "KillMode=process\nRestart=on-failure\nRestartSec=5\n\n[Install]\nWantedBy=default.target\n",
    );
    unit
}

/// As systemd reads it: `%` begins a specifier, and quotes and backslashes are escaped.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{escaped}\"")
}

/// `AbandonProcessGroup`: the runs must outlive the service.
fn launchd_plist(program: &str, variables: &[(String, String)]) -> String {
    let mut environment = String::new();
    for (name, value) in variables {
        let (name, value) = (escaped(name), escaped(value));
        environment.push_str(&format!("    <key>{name}</key><string>{value}</string>\n"));
    }
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array><string>{}</string><string>agents</string><string>up</string></array>
  <key>EnvironmentVariables</key>
  <dict>
{environment}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
"#,
        escaped(program)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Manager;

    fn variables() -> Vec<(String, String)> {
        vec![
            ("RALPH_MODEL".to_owned(), "a\"b%c\\d & <e>".to_owned()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ]
    }

    #[test]
    fn the_systemd_unit_keeps_runs_alive_and_quotes_what_it_is_given() {
        let manager = Manager::systemd(Path::new("/c"));
        assert_eq!(manager.path, Path::new("/c/systemd/user/ralph-agents.service"));
        let unit = manager
            .unit(Path::new("/opt/my $tools/ralph"), &variables())
            .unwrap();
        assert_eq!(
            unit,
            r#"[Unit]
Description=ralph agents

[Service]
ExecStart="/opt/my $$tools/ralph" agents up
Environment="PATH=/usr/bin:/bin"
Environment="RALPH_MODEL=a\"b%%c\\d & <e>"
KillMode=process
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
"#
        );
    }

    #[test]
    fn the_launch_agent_keeps_runs_alive_and_escapes_what_it_is_given() {
        let manager = Manager::launchd(Path::new("/Users/me"));
        let plist = manager.unit(Path::new("/opt/ralph"), &variables()).unwrap();
        assert!(plist.contains("<key>AbandonProcessGroup</key><true/>"), "{plist}");
        assert!(plist.contains("a\"b%c\\d &#38; &#60;e&#62;"), "{plist}");
        assert!(plist.contains("<string>/opt/ralph</string><string>agents</string><string>up</string>"));
    }

    #[test]
    fn a_variable_of_several_lines_is_refused_by_its_name() {
        let manager = Manager::systemd(Path::new("/c"));
        let variables = [("RALPH_X".to_owned(), "a\nb".to_owned())];
        let error = manager.unit(Path::new("/r"), &variables).unwrap_err();
        assert!(error.to_string().contains("`RALPH_X`"), "{error}");
    }
}
