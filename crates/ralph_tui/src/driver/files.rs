//! Files that the terminal UI reads and writes for its user: raw logs and exports.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use ralph_run::{Home, open_linked_file};

/// More of a line is not read on a screen.
const MAX_RAW_BYTES: u64 = 256 << 10;
/// How many names are tried for an export.
const MAX_NAMES: u32 = 99;

/// The agent's own line of a record.
pub(super) fn read_raw(
    home: &Home,
    run: &str,
    attempt: u32,
    offset: u64,
    length: u64,
) -> Result<String, String> {
    let directory = home.run(run).ok_or_else(|| format!("run {run} is gone"))?;
    let read = || -> io::Result<Vec<u8>> {
        let mut file = open_linked_file(&directory.raw_log(attempt))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length.min(MAX_RAW_BYTES)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| format!("cannot read the raw log: {error}"))?;
    if bytes.is_empty() {
        return Err("the raw log does not have this line any more".to_owned());
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if length > MAX_RAW_BYTES {
        text.push_str(&format!("\n… {} more bytes", length - MAX_RAW_BYTES));
    }
    Ok(text)
}

/// Writes a text to a new file in a directory, and says its name. `notes.md` becomes `notes-2.md` if there is one.
pub(super) fn export(directory: &Path, name: &str, text: &str) -> Result<String, String> {
    let name = Path::new(name).file_name().and_then(|name| name.to_str());
    let name = name.ok_or("the export has no file name")?;
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "md"));
    let names = (2..=MAX_NAMES).map(|number| format!("{stem}-{number}.{extension}"));
    for name in std::iter::once(format!("{stem}.{extension}")).chain(names) {
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(directory.join(&name));
        return match opened {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => Err(format!("cannot write `{name}`: {error}")),
            Ok(mut file) => match file.write_all(text.as_bytes()) {
                Ok(()) => Ok(name),
                Err(error) => {
                    // Half of a transcript would be taken for all of it.
                    let _ = fs::remove_file(directory.join(&name));
                    Err(format!("cannot write `{name}`: {error}"))
                }
            },
        };
    }
    Err(format!(
        "`{stem}.{extension}` exists, and {} others like it",
        MAX_NAMES - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::export;

    #[test]
    fn an_export_never_overwrites_a_file_and_stays_in_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let export = |name: &str, text| export(directory.path(), name, text).unwrap();
        assert_eq!(export("run.md", "one"), "run.md");
        assert_eq!(export("run.md", "two"), "run-2.md");
        assert_eq!(export("../../run.md", "three"), "run-3.md");
        assert_eq!(
            std::fs::read_to_string(directory.path().join("run.md")).unwrap(),
            "one"
        );
        assert_eq!(
            std::fs::read_to_string(directory.path().join("run-3.md")).unwrap(),
            "three"
        );
    }
}
