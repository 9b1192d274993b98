//! `permission_mode_words()`: a permission mode in words, whether the user, ralph or an agent named it.

use ralph_run::control::PermissionChoice;

/// The mode in words. Agents, settings and commands spell the same modes differently. Another agent's own mode stays as
/// it is and is not sanitised.
#[must_use]
pub fn permission_mode_words(mode: &str) -> &str {
    match mode {
        "ask" | "default" => "ask",
        "acceptEdits" | "accept_edits" | "accept-edits" => "accept edits",
        "dontAsk" | "refuse" => "refuse",
        "bypassPermissions" | "bypass" => "bypass",
        other => other,
    }
}

/// A mode that a person can choose, in words.
#[must_use]
pub fn permission_choice_words(choice: PermissionChoice) -> &'static str {
    match choice {
        PermissionChoice::Ask => "ask",
        PermissionChoice::AcceptEdits => "accept edits",
        PermissionChoice::Plan => "plan",
        PermissionChoice::Refuse => "refuse",
        PermissionChoice::Bypass => "bypass",
    }
}

#[cfg(test)]
mod tests {
    use super::permission_mode_words;

    #[test]
    fn modes_have_one_name_whoever_reports_them() {
        assert_eq!(permission_mode_words("bypassPermissions"), "bypass");
        assert_eq!(permission_mode_words("accept_edits"), "accept edits");
        assert_eq!(permission_mode_words("default"), "ask");
        assert_eq!(permission_mode_words("yolo"), "yolo");
    }
}
