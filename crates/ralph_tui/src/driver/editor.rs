//! The user's editor: which program, and how it is told a line.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

/// The command line that opens a file at a line.
fn command_line(editor: &str, path: &str, line: Option<u64>) -> Vec<String> {
    let mut words: Vec<String> = editor.split_ascii_whitespace().map(str::to_owned).collect();
    let program = words.first().map(String::as_str).unwrap_or_default();
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    let Some(line) = line else {
        words.push(path.to_owned());
        return words;
    };
    match name.unwrap_or_default() {
        "vi" | "vim" | "nvim" | "view" | "nano" | "emacs" | "emacsclient" | "kak" | "micro" | "ne"
        | "joe" => {
            words.extend([format!("+{line}"), path.to_owned()]);
        }
        "hx" | "helix" | "zed" | "subl" => words.push(format!("{path}:{line}")),
        "code" | "codium" | "cursor" => words.extend(["-g".to_owned(), format!("{path}:{line}")]),
        _ => words.push(path.to_owned()),
    }
    words
}

/// Opens a file in the editor and waits until it is closed. The terminal must have been given back.
pub fn edit_file(path: &str, line: Option<u64>) -> Result<(), String> {
    let is_set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = is_set("VISUAL")
        .or_else(|| is_set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let words = command_line(&editor, path, line);
    let Some((program, arguments)) = words.split_first() else {
        return Err("no editor is set; set $EDITOR".to_owned());
    };
    let status = Command::new(program).args(arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` failed: {status}")),
        Err(error) => Err(format!(
            "cannot start the editor `{program}`: {error}; set $EDITOR"
        )),
    }
}

/// Opens a text in the editor. Gives what was saved, or `None` if nothing was changed.
pub(super) fn edit_text(text: &str) -> Result<Option<String>, String> {
    let file = TextFile::create(text).map_err(|error| format!("cannot write a temporary file: {error}"))?;
    edit_file(&file.path, None)?;
    let saved = std::fs::read(&file.path).map_err(|error| format!("cannot read what was saved: {error}"))?;
    let saved = String::from_utf8_lossy(&saved);
    // Editors end files with a line break.
    let saved = saved.strip_suffix('\n').unwrap_or(&saved);
    Ok((saved != text).then(|| saved.to_owned()))
}

/// A private file that is removed when it is dropped.
struct TextFile {
    path: String,
}

impl TextFile {
    fn create(text: &str) -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let name = format!("ralph-{}.md", ralph_run::control::command_id());
        let path = std::env::temp_dir().join(name);
        let path = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let file_guard = Self { path };
        file.write_all(text.as_bytes())?;
        if !text.is_empty() {
            file.write_all(b"\n")?;
        }
        Ok(file_guard)
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn each_editor_is_told_the_line_in_its_own_way() {
        for (editor, line, expected) in [
            ("vim", Some(7), "vim +7 a.rs"),
            ("/usr/bin/nvim -n", Some(7), "/usr/bin/nvim -n +7 a.rs"),
            ("nano", None, "nano a.rs"),
            ("hx", Some(7), "hx a.rs:7"),
            ("code --wait", Some(7), "code --wait -g a.rs:7"),
            ("ed", Some(7), "ed a.rs"),
        ] {
            assert_eq!(command_line(editor, "a.rs", line).join(" "), expected);
        }
    }
}
