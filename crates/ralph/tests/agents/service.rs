//! `ralph service` with a made-up service manager.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::stage::{Stage, finishes};

/// A `systemctl` that notes what it is asked for.
fn with_manager(stage: &Stage, exit_code: u8) {
    let bin = stage.path("bin");
    fs::create_dir_all(&bin).unwrap();
    let log = stage.path("systemctl.log");
    let text = format!("#!/bin/sh\necho \"$*\" >> {}\nexit {exit_code}\n", log.display());
    fs::write(bin.join("systemctl"), text).unwrap();
    fs::set_permissions(bin.join("systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn service(stage: &Stage, args: &[&str]) -> Output {
    let mut all = vec!["service"];
    all.extend(args);
    let mut command: Command = stage.ralph(&all);
    let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
    command.env("PATH", path).env("RALPH_SERVER_TOKEN", "made-up");
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_service_is_installed_started_and_removed_and_says_what_it_did() {
    let stage = Stage::new(&finishes());
    with_manager(&stage, 0);
    let unit = stage.path("home/.config/systemd/user/ralph-agents.service");
    let installed = service(&stage, &["install"]);
    assert_eq!(installed.status.code(), Some(0), "{installed:?}");
    assert_eq!(
        text(&installed),
        format!(
            "wrote {}\nran `systemctl --user daemon-reload`\nran `systemctl --user enable ralph-agents.service`\nran \
             `systemctl --user restart ralph-agents.service`\nto keep agents up while you are logged out: `loginctl \
             enable-linger`\n",
            unit.display()
        )
    );
    let content = fs::read_to_string(&unit).unwrap();
    assert!(
        content.contains("ralph\" agents up\n") && content.contains("XDG_STATE_HOME="),
        "{content}"
    );
    assert!(!content.contains("made-up"), "no secret of a server: {content}");
    assert_eq!(service(&stage, &["status"]).status.code(), Some(0));
    let removed = service(&stage, &["uninstall"]);
    assert!(text(&removed).contains("active runs continue"), "{removed:?}");
    assert!(!unit.exists());
    assert_eq!(service(&stage, &["status"]).status.code(), Some(1));
    let asked = fs::read_to_string(stage.path("systemctl.log")).unwrap();
    assert!(
        asked.ends_with("--user disable --now ralph-agents.service\n"),
        "{asked}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_service_manager_the_unit_is_written_and_the_command_named() {
    let stage = Stage::new(&finishes());
    with_manager(&stage, 3);
    let installed = service(&stage, &["install", "--json"]);
    assert_eq!(installed.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&installed.stdout).unwrap();
    let last = json["steps"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .as_str()
        .unwrap();
    assert!(
        last.starts_with("could not run `systemctl --user daemon-reload`"),
        "{last}"
    );
    assert!(
        stage
            .path("home/.config/systemd/user/ralph-agents.service")
            .exists()
    );
}
