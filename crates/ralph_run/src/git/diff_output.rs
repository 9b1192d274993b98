//! `parse_file_list`, `parse_patch`: what `git diff` writes, as data.

use std::collections::HashMap;

use agent_api::ChangeKind;

use super::changes::ChangedFile;

/// The files in the output of `git diff --raw --numstat -z --no-renames`, in its order. An entry that was cut off is left
/// out.
pub(super) fn parse_file_list(output: &[u8]) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut places = HashMap::new();
    let end = output.iter().rposition(|byte| *byte == 0).unwrap_or(0);
    let mut parts = output.get(..end).unwrap_or_default().split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        if let Some(raw) = part.strip_prefix(b":") {
            let status = raw
                .rsplit(|byte| *byte == b' ')
                .next()
                .and_then(|word| word.first());
            let Some(path) = parts.next().map(lossy) else {
                break;
            };
            let kind = match status {
                Some(b'A') => ChangeKind::Added,
                Some(b'D') => ChangeKind::Deleted,
                // An unmerged path has an entry of its own, beside the one that compares its file.
                Some(b'U') => continue,
                _ => ChangeKind::Modified,
            };
            places.insert(path.clone(), files.len());
            files.push(ChangedFile {
                path,
                kind,
                lines: None,
                diff: None,
                sections: if status == Some(&b'T') { 2 } else { 1 },
            });
        } else if let Some((lines, path)) = numbers(part)
            && let Some(file) = places.get(&path).and_then(|place| files.get_mut(*place))
        {
            file.lines = lines;
        }
    }
    files
}

/// Lines added and removed, none for a binary file, and the path.
fn numbers(part: &[u8]) -> Option<(Option<(u32, u32)>, String)> {
    let mut words = part.splitn(3, |byte| *byte == b'\t');
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
    let (added, removed) = (number(), number());
    Some((added.zip(removed), lossy(words.next()?)))
}

/// Gives each file the hunks that `git diff --patch` wrote for it. Without `-z` git quotes odd names, so a line that
/// starts with `diff --git ` always begins the next file. If the patch does not fit the files, nothing is given: a file
/// has changed in between.
pub(super) fn parse_patch(output: &[u8], is_truncated: bool, files: &mut [&mut ChangedFile]) {
    let text = lossy(output);
    let mut sections: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            sections.push(String::new());
        } else if let Some(section) = sections.last_mut()
            && (line.starts_with("@@") || !section.is_empty())
            // Anything else is not part of a hunk, such as a note about an unmerged path.
            && line.starts_with(['@', ' ', '+', '-', '\\'])
        {
            section.push_str(line);
        }
    }
    let expected: usize = files.iter().map(|file| file.sections).sum();
    if is_truncated {
        // The last one may lack lines.
        sections.pop();
    } else if sections.len() != expected {
        return;
    }
    let mut sections = sections.into_iter();
    for file in files {
        let own: Vec<String> = sections.by_ref().take(file.sections).collect();
        let diff = own.concat();
        if own.len() == file.sections && !diff.is_empty() {
            file.diff = Some(diff);
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use agent_api::ChangeKind;

    use super::{parse_file_list, parse_patch};

    const LIST: &[u8] = b":100644 000000 aaa 000 D\0gone\0:000000 100644 000 000 A\0new\nname\0\
        :100644 120000 aaa 000 T\0link\0:000000 000000 000 000 U\0both\0:100644 100644 aaa 000 M\0both\0\
        0\t3\tgone\0-\t-\tnew\nname\x001\t1\tlink\x002\t0\tboth\0";

    #[test]
    fn a_list_of_files_has_their_kinds_and_lines() {
        let files = parse_file_list(LIST);
        let found: Vec<_> = files
            .iter()
            .map(|file| (file.path.as_str(), file.kind, file.lines))
            .collect();
        assert_eq!(
            found,
            [
                ("gone", ChangeKind::Deleted, Some((0, 3))),
                ("new\nname", ChangeKind::Added, None),
                ("link", ChangeKind::Modified, Some((1, 1))),
                ("both", ChangeKind::Modified, Some((2, 0))),
            ]
        );
        assert_eq!(parse_file_list(&LIST[..60]).len(), 1);
        assert!(parse_file_list(b"").is_empty() && parse_file_list(b"odd\0:").is_empty());
    }

    const PATCH: &str = "diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-diff --git a b\n\
        diff --git \"a/new\\nname\" \"b/new\\nname\"\nBinary files differ\n\
        diff --git a/link b/link\n@@ -1 +0,0 @@\n-a\ndiff --git a/link b/link\n@@ -0,0 +1 @@\n+b\n\
        * Unmerged path both\ndiff --git a/both b/both\n@@ -1 +1,2 @@\n a\n+b\n";

    #[test]
    fn a_patch_is_divided_among_its_files() {
        let mut files = parse_file_list(LIST);
        parse_patch(PATCH.as_bytes(), false, &mut files.iter_mut().collect::<Vec<_>>());
        let diffs: Vec<_> = files.iter().map(|file| file.diff.as_deref()).collect();
        assert_eq!(
            diffs,
            [
                Some("@@ -1 +0,0 @@\n-diff --git a b\n"),
                None,
                Some("@@ -1 +0,0 @@\n-a\n@@ -0,0 +1 @@\n+b\n"),
                Some("@@ -1 +1,2 @@\n a\n+b\n"),
            ]
        );
    }

    #[test]
    fn a_patch_that_does_not_fit_its_files_is_not_used() {
        let mut files = parse_file_list(LIST);
        let more = format!("{PATCH}diff --git a/x b/x\n@@ -1 +1 @@\n-a\n");
        parse_patch(more.as_bytes(), false, &mut files.iter_mut().collect::<Vec<_>>());
        assert!(files.iter().all(|file| file.diff.is_none()));
        // Of one that was cut off, the last part may lack lines.
        let cut = &PATCH.as_bytes()[..PATCH.len() - 4];
        parse_patch(cut, true, &mut files.iter_mut().collect::<Vec<_>>());
        assert!(files[2].diff.is_some() && files[3].diff.is_none());
    }
}
