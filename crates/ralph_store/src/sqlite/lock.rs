//! `lock`: one server for each data directory.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::error::StoreError;
use crate::private::open_file;

const NAME: &str = "server.lock";

/// Takes the data directory. It is ours until the file is dropped, or the process ends, however that happens.
pub(super) fn lock(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join(NAME);
    let fail = |error: std::io::Error| StoreError::Unavailable(format!("`{}`: {error}", path.display()));
    let mut file = open_file(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The holder may be just about to write its name.
            let _ = file.read_to_string(&mut text);
            return Err(StoreError::InUse {
                directory: directory.to_owned(),
                pid: text.trim().parse().ok(),
            });
        }
        Err(TryLockError::Error(error)) => return Err(fail(error)),
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(fail)?;
    Ok(file)
}
