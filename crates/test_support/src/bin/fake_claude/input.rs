//! Standard input.

use crate::output;
use std::io::{self, BufRead as _, Read as _};
use test_support::script::Stream;

/// The next line without its newline, `None` at the end.
pub(crate) fn line() -> Result<Option<String>, String> {
    let mut line = Vec::new();
    io::stdin()
        .lock()
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("cannot read stdin: {error}"))?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Reads the rest and describes it.
pub(crate) fn drain() -> Result<String, String> {
    let (mut bytes, mut lines) = (0, 0);
    chunks(|chunk| {
        bytes += chunk.len();
        lines += chunk.iter().filter(|byte| **byte == b'\n').count();
    })?;
    Ok(format!(
        "{{\"type\":\"fake_input\",\"bytes\":{bytes},\"lines\":{lines}}}\n"
    ))
}

/// Copies the rest, chunk by chunk as it comes.
pub(crate) fn echo() -> Result<(), String> {
    chunks(|chunk| output::write(Stream::Stdout, chunk))
}

fn chunks(mut each: impl FnMut(&[u8])) -> Result<(), String> {
    let mut stdin = io::stdin().lock();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match stdin.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => each(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot read stdin: {error}")),
        }
    }
}
