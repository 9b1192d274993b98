//! Permissions when nobody can be asked.

use super::all::OLDER;
use crate::scenario::{Scenario, bash};

pub(super) fn scenarios() -> Vec<Scenario> {
    let plain = Scenario::plain;
    let touch = [vec![bash("touch created.txt")]];
    vec![
        Scenario::scripted(
            "permission_default_bash",
            "a command that changes something is denied",
            &touch,
        )
        .asking(),
        Scenario::scripted(
            "permission_default_bash_read",
            "a command that only reads is allowed",
            &[vec![bash("ls")]],
        )
        .asking(),
        plain("permission_default_write", "Write is denied", "write")
            .asking()
            .also_in(&OLDER),
        plain("permission_default_read", "Read is allowed", "read").asking(),
        plain("permission_allowed_tools", "--allowedTools=Write", "write")
            .asking()
            .flag("--allowedTools=Write"),
        plain(
            "permission_accept_edits",
            "--permission-mode=acceptEdits",
            "write",
        )
        .asking()
        .flag("--permission-mode=acceptEdits"),
        plain("permission_dont_ask", "--permission-mode=dontAsk", "write")
            .asking()
            .flag("--permission-mode=dontAsk"),
        plain("permission_plan", "--permission-mode=plan", "write")
            .asking()
            .flag("--permission-mode=plan"),
        plain("permission_disallowed", "--disallowedTools=Bash", "bash").flag("--disallowedTools=Bash"),
        Scenario::scripted(
            "permission_disallowed_pattern",
            "--disallowedTools with a pattern",
            &[vec![bash("rm -f x")]],
        )
        .flag("--disallowedTools=Bash(rm:*)"),
        plain("permission_tools", "--tools=Read,Edit: there is no Bash", "bash").flag("--tools=Read,Edit"),
    ]
}
