//! Opening a journal whose writer is gone.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::damage::{Damage, DamageKind};
use super::records::JournalRecords;
use super::writer::{JournalError, JournalWriter, lock, unusable};
use crate::home::new_file;
use crate::record::Record;

/// A badly damaged file is not worth a list of all its lines.
const MOST_DAMAGE: usize = 100;

/// A journal that can be written on, and in what state it was.
#[derive(Debug)]
pub struct Resumed {
    /// Appends behind the last whole line.
    pub writer: JournalWriter,
    /// The number of the last record; 0 if there is none.
    pub last_seq: u64,
    /// Where the piece of a line was put that the journal ended with.
    pub torn: Option<PathBuf>,
    /// What is wrong with the rest, at most a hundred places. It stays as it is.
    pub damage: Vec<Damage>,
}

impl JournalWriter {
    /// Opens a journal whose writer is gone, reads it, and puts the piece of a line that it may end with aside, so
    /// that the next record stands alone. `at` names that piece.
    ///
    /// # Errors
    /// When its writer is not gone, a newer version wrote it, or the system does not let us.
    pub fn resume(
        path: &Path,
        at: Timestamp,
        mut each: impl FnMut(&Record),
    ) -> Result<Resumed, JournalError> {
        let fail = |source| unusable(path, source);
        let mut file = open(path).map_err(fail)?;
        lock(&file, path)?;
        let mut reader = JournalRecords::new(&file);
        let (mut damage, mut last_seq) = (Vec::new(), 0);
        for item in &mut reader {
            match item {
                Ok(record) => {
                    last_seq = record.seq;
                    each(&record);
                }
                Err(Damage {
                    kind: DamageKind::Unreadable(source),
                    ..
                }) => return Err(fail(source)),
                Err(problem) if problem.is_final() => return Err(JournalError::NewerFormat(problem)),
                Err(problem) if damage.len() < MOST_DAMAGE => damage.push(problem),
                Err(_) => {}
            }
        }
        let length_bytes = reader.whole_bytes();
        let torn = if reader.torn_bytes() > 0 {
            Some(put_aside(&mut file, path, length_bytes, at).map_err(fail)?)
        } else {
            None
        };
        Ok(Resumed {
            writer: Self::on(Box::new(file), path, length_bytes),
            last_seq,
            torn,
            damage,
        })
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Nobody but the user can put a link here, but what it names is not ours to write to.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    OpenOptions::new().read(true).append(true).open(path)
}

/// First the copy, then the cut: whenever this is interrupted, the piece is in one place at least.
fn put_aside(file: &mut File, path: &Path, whole_bytes: u64, at: Timestamp) -> io::Result<PathBuf> {
    let (mut piece, aside) = new_beside(path, at)?;
    file.seek(SeekFrom::Start(whole_bytes))?;
    io::copy(&mut Read::by_ref(file), &mut piece)?;
    piece.sync_all()?;
    file.set_len(whole_bytes)?;
    file.sync_data()?;
    Ok(aside)
}

fn new_beside(path: &Path, at: Timestamp) -> io::Result<(File, PathBuf)> {
    let mut number = 0_u32;
    loop {
        let mut name = OsString::from(path);
        name.push(format!(".torn-{}", at.strftime("%Y%m%dT%H%M%SZ")));
        if number > 0 {
            name.push(format!("-{number}"));
        }
        match new_file(Path::new(&name)) {
            Ok(file) => return Ok((file, PathBuf::from(name))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}
