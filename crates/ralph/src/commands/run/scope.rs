//! `unmatched_patterns`: patterns of `watch.scope` that match no file, for a warning before the run starts.

use std::path::Path;
use std::time::{Duration, Instant};

use ralph_run::watchdog::Scope;

/// A larger workspace is not searched to its end, and then nothing is reported.
const MAX_ENTRIES: usize = 50_000;
const SEARCH_TIMEOUT: Duration = Duration::from_millis(500);

/// The patterns that match no file or directory of the workspace; empty if that is not known.
pub(super) fn unmatched_patterns(workspace: &Path, patterns: &[String]) -> Vec<String> {
    let scopes = patterns
        .iter()
        .filter_map(|pattern| Some((pattern, Scope::new(std::slice::from_ref(pattern)).ok()?)));
    let mut unmatched: Vec<(&String, Scope)> = scopes.collect();
    let mut directories = vec![workspace.to_owned()];
    let started = Instant::now();
    let mut entries = 0;
    while let Some(directory) = directories.pop() {
        let Ok(listed) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in listed.flatten() {
            entries += 1;
            if unmatched.is_empty() || entries > MAX_ENTRIES || started.elapsed() > SEARCH_TIMEOUT {
                return Vec::new();
            }
            let path = entry.path();
            if let Ok(relative) = path.strip_prefix(workspace) {
                unmatched.retain(|(_, scope)| !scope.contains(relative));
            }
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && entry.file_name() != ".git" {
                directories.push(path);
            }
        }
    }
    unmatched
        .into_iter()
        .map(|(pattern, _)| pattern.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::unmatched_patterns;

    #[test]
    fn patterns_that_match_nothing_are_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        fs::write(folder.path().join("src/deep/a.rs"), "").unwrap();
        fs::write(folder.path().join("README.md"), "").unwrap();
        let unmatched = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&it| it.to_owned()).collect();
            unmatched_patterns(folder.path(), &patterns)
        };
        let matching = ["src", "src/", "src/**", "**/*.rs", "*.md", "./src/deep/a.rs"];
        assert_eq!(unmatched(&matching), [""; 0]);
        assert_eq!(unmatched(&["src/**", "scr/**", "*.rs"]), ["scr/**", "*.rs"]);
    }
}
