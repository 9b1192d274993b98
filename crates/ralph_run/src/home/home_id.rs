//! `Home::id`: a random id that tells one state directory from another, for indexes that several could be pointed at.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher as _;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use super::error::HomeError;
use super::place::Home;
use super::private::new_file;

const FILE_NAME: &str = "home-id";
const ID_CHARS: usize = 32;

impl Home {
    /// The id of this state directory. The first call creates it; it stays the same until the file is deleted.
    pub fn id(&self) -> Result<String, HomeError> {
        self.prepare()?;
        let path = self.state_directory().join(FILE_NAME);
        let id = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => create(&path).and_then(|()| read(&path)),
            read => read,
        };
        id.map_err(|source| HomeError::unusable(&path, source))
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(1024).read_to_string(&mut text)?;
    let id = text.trim_end();
    if id.len() == ID_CHARS && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(id.to_owned());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "not an id of a state directory; delete the file to get a new one",
    ))
}

/// The file appears with its content or not at all, and of two processes that start at once one creates it.
fn create(path: &Path) -> io::Result<()> {
    let draft = path.with_file_name(format!(".{FILE_NAME}-{}", random_id()));
    let mut file = new_file(&draft)?;
    let written = writeln!(file, "{}", random_id())
        .and_then(|()| file.sync_all())
        .and_then(|()| match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
    written.and(fs::remove_file(&draft))
}

/// Random, but not a secret: the keys of `RandomState` come from the system.
fn random_id() -> String {
    let part = |number: u8| RandomState::new().hash_one((std::process::id(), number));
    format!("{:016x}{:016x}", part(0), part(1))
}

#[cfg(test)]
mod tests {
    use super::{FILE_NAME, Home};
    use std::collections::BTreeSet;
    use std::fs;

    #[test]
    fn a_state_directory_keeps_its_id_and_no_two_have_the_same() {
        let directories: Vec<_> = (0..20).map(|_| tempfile::tempdir().unwrap()).collect();
        let mut ids = BTreeSet::new();
        for directory in &directories {
            let home = Home::new(directory.path().join("ralph"), None);
            let id = home.id().unwrap();
            assert_eq!(home.id().unwrap(), id);
            assert!(ids.insert(id));
        }
    }

    #[test]
    fn of_many_that_start_at_once_one_creates_the_id() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("ralph"), None);
        home.prepare().unwrap();
        let ids: BTreeSet<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..50).map(|_| scope.spawn(|| home.id().unwrap())).collect();
            all.into_iter().map(|id| id.join().unwrap()).collect()
        });
        assert_eq!(ids.len(), 1);
        let names = fs::read_dir(home.state_directory()).unwrap();
        let drafts = names.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with('.')
        });
        assert_eq!(drafts.count(), 0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = fs::metadata(home.state_directory().join(FILE_NAME)).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_with_anything_else_is_an_error_that_says_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("ralph"), None);
        home.id().unwrap();
        for content in ["", "x\n", "../../etc/passwd\n"] {
            fs::write(home.state_directory().join(FILE_NAME), content).unwrap();
            let error = with_causes(&home.id().unwrap_err());
            assert!(error.contains("delete the file"), "{error}");
        }
    }

    fn with_causes(error: &dyn std::error::Error) -> String {
        let source = error.source().map(with_causes).unwrap_or_default();
        format!("{error}: {source}")
    }
}
