//! Creates files and directories that only the user can read, whatever the umask is. Used wherever state is written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use super::error::HomeError;

/// Makes one directory, for the user alone. Fails if there is something already.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    private_directory(&mut builder);
    builder.create(path)?;
    // A umask can take rights away from ourselves; it can never have added any.
    restore_mode(path, 0o700)
}

/// Makes a directory and what is missing above it, for the user alone. What exists stays as it is.
pub fn make_directory_all(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_directory_all(parent)?;
    }
    match make_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// A new file for the user alone, opened for appending. Fails if there is something already, a link included.
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    private_file(&mut options);
    let file = options.open(path)?;
    protect(&file)?;
    Ok(file)
}

/// Gives an open file the mode of a private one.
pub(crate) fn protect(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(())
    }
}

/// Whether a directory can be trusted with secrets: it belongs to the user, and no other user can write to it.
pub(super) fn check_directory(path: &Path) -> Result<(), HomeError> {
    let metadata = fs::metadata(path).map_err(|source| HomeError::unusable(path, source))?;
    if !metadata.is_dir() {
        return Err(HomeError::NotADirectory(path.to_owned()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if rustix::process::geteuid().as_raw() != metadata.uid() {
            return Err(HomeError::ForeignOwner(path.to_owned()));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(HomeError::WritableByOthers(path.to_owned()));
        }
    }
    Ok(())
}

/// Makes a folder that only this user can enter, or makes sure that an existing one is: another user must neither own
/// it nor have put a link in its place. Rights of others are taken away.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    make_directory_all(path)?;
    let found = fs::symlink_metadata(path)?;
    let refuse = |why: &str| {
        let message = format!("{why}; remove it: `{}`", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    };
    if !found.is_dir() {
        return refuse("not a directory of its own but a link");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("another user owns the folder for control sockets");
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(unix)]
fn private_directory(builder: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;
    builder.mode(0o700);
}

/// Makes files that these options create readable and writable for the user alone.
#[cfg(unix)]
pub fn private_file(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(unix)]
fn restore_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private_directory(_: &mut DirBuilder) {}

/// Without effect where the system has no such modes.
#[cfg(not(unix))]
pub fn private_file(_: &mut OpenOptions) {}

#[cfg(not(unix))]
fn restore_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
