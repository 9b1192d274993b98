//! `is_in_foreground()`: whether this process may use its terminal now.

/// Whether this process may read from its terminal and change its mode: it is in the foreground, or its terminal has no
/// job control. In the background, the system would stop it for that.
pub fn is_in_foreground() -> bool {
    #[cfg(target_os = "linux")]
    {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        is_foreground_stat(&stat)
    }
    #[cfg(not(target_os = "linux"))]
    {
        #[expect(clippy::disallowed_methods, reason = "there are no PID namespaces here")]
        let own = rustix::process::getpgrp();
        rustix::termios::tcgetpgrp(rustix::stdio::stdin()).is_ok_and(|foreground| foreground == own)
    }
}

/// After the name, which may contain anything: state, parent, group, session, terminal, and the group in its foreground.
#[cfg(target_os = "linux")]
fn is_foreground_stat(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace().skip(2);
    let (group, foreground) = (fields.next(), fields.nth(2));
    match foreground {
        // There is no controlling terminal.
        Some("-1") | None => true,
        Some(_) => foreground == group,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_foreground_stat;

    #[test]
    fn the_foreground_is_told_by_the_group_of_the_terminal() {
        for (stat, expected) in [
            ("7 (ra) lph) S 1 70 70 34816 70 4194304 1", true),
            ("7 (ralph) S 1 70 70 34816 69 4194304 1", false),
            // Without a controlling terminal.
            ("7 (ralph) S 1 70 70 0 -1 4194304 1", true),
            // Both groups belong to another PID namespace.
            ("7 (ralph) S 0 0 0 34816 0 4194304 1", true),
            ("", true),
        ] {
            assert_eq!(is_foreground_stat(stat), expected, "{stat}");
        }
    }
}
