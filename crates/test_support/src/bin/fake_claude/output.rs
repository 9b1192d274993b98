//! Output by plain write calls: one call per piece, so that a script decides where the reader's chunks may end.

use crate::system;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use test_support::script::{Stream, flood_line};

/// Held for one step: lines of the script and of a signal's reaction never mix within a line.
static WRITING: Mutex<()> = Mutex::new(());

const BATCH_BYTES: usize = 256 * 1024;

/// Writes all of it. A reader that went away is no reason to stop: it is none for Claude Code either.
pub(crate) fn write(stream: Stream, bytes: &[u8]) {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write_locked(stream, bytes);
}

fn write_locked(stream: Stream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match system::write(stream, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

pub(crate) fn write_split(stream: Stream, bytes: &[u8], splits: &[usize]) -> Result<(), String> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut start = 0;
    for end in splits.iter().copied().chain([bytes.len()]) {
        let piece = bytes
            .get(start..end)
            .ok_or_else(|| format!("cannot split {} bytes at {end}", bytes.len()))?;
        write_locked(stream, piece);
        start = end;
    }
    Ok(())
}

pub(crate) fn flood(lines: u64, line_bytes: usize) {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut batch = Vec::with_capacity(BATCH_BYTES + line_bytes);
    for number in 1..=lines {
        batch.extend_from_slice(&flood_line(number, line_bytes));
        if batch.len() >= BATCH_BYTES {
            write_locked(Stream::Stdout, &batch);
            batch.clear();
        }
    }
    write_locked(Stream::Stdout, &batch);
}

pub(crate) fn flood_stderr(bytes: u64) {
    let mut line = vec![b'e'; 99];
    line.push(b'\n');
    let batch = line.repeat(640);
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(batch.len());
        write(Stream::Stderr, batch.get(..length).unwrap_or_default());
        left -= length as u64;
    }
}

/// Writes what fits without waiting and forgets the rest.
pub(crate) fn burst(bytes: usize) -> io::Result<()> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let line = flood_line(1, bytes);
    let mut rest = line.as_slice();
    system::without_waiting(|| {
        while !rest.is_empty() {
            match system::write(Stream::Stdout, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(_) => return,
            }
        }
    })
}

pub(crate) fn write_file(path: &Path, chunk_bytes: &[usize], times: u32) -> io::Result<()> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut sizes = if chunk_bytes.is_empty() {
        &[BATCH_BYTES][..]
    } else {
        chunk_bytes
    }
    .iter()
    .cycle()
    .copied();
    let mut chunk = Vec::new();
    for _ in 0..times {
        let mut file = File::open(path)?;
        loop {
            chunk.clear();
            let size = sizes.next().unwrap_or(BATCH_BYTES).max(1);
            if file.by_ref().take(size as u64).read_to_end(&mut chunk)? == 0 {
                break;
            }
            write_locked(Stream::Stdout, &chunk);
        }
    }
    Ok(())
}
