//! Task files on disk.

use std::fs;

use ralph_tasks::{Draft, FolderError, TaskFolder};

use crate::stage::{id, messages};

fn drafts() -> Vec<Draft> {
    let mut second = Draft::new(id("bbbbb"), "Second");
    second.depends_on = vec![id("aaaaa")];
    vec![Draft::new(id("aaaaa"), "First"), second]
}

#[test]
fn new_tasks_are_written_all_or_none() {
    let place = tempfile::tempdir().unwrap();
    let folder = TaskFolder::new(place.path());
    assert!(folder.load().unwrap().is_empty());
    folder.create(&drafts()).unwrap();
    let backlog = folder.load().unwrap();
    assert_eq!(messages(&backlog), Vec::<String>::new());
    assert_eq!(backlog.tasks().count(), 2);
    // The second one exists, so the first one is not kept either.
    let again = [Draft::new(id("ccccc"), "Third"), drafts().remove(1)];
    assert!(matches!(folder.create(&again), Err(FolderError::Write { .. })));
    let names = fs::read_dir(place.path().join("ralph/tasks")).unwrap().count();
    assert_eq!(names, 2, "neither a task nor a temporary file is left behind");
}

#[test]
fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let folder = TaskFolder::new(place.path());
    folder.create(&drafts()).unwrap();
    let file = drafts()[0].file();
    let before = folder.read(&file).unwrap();
    folder.replace(&file, &before, "new").unwrap();
    assert!(matches!(
        folder.replace(&file, &before, "newer"),
        Err(FolderError::Changed { .. })
    ));
    assert_eq!(folder.read(&file).unwrap(), "new");
}

#[test]
fn files_that_are_ignored_or_cannot_be_read_are_reported() {
    let place = tempfile::tempdir().unwrap();
    let folder = TaskFolder::new(place.path());
    folder.create(&drafts()).unwrap();
    let tasks = place.path().join("ralph/tasks");
    fs::write(tasks.join("README.md"), "About").unwrap();
    fs::write(tasks.join("notes.txt"), "x").unwrap();
    fs::create_dir(tasks.join("sub")).unwrap();
    fs::write(tasks.join("ccccc-large.md"), "x".repeat(300 << 10)).unwrap();
    fs::write(tasks.join("ddddd-latin.md"), b"---\nid: \xff\n").unwrap();
    let found = messages(&folder.load().unwrap());
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found[0].starts_with("ralph/tasks/ccccc-large.md:1:1: cannot be read"),
        "{found:?}"
    );
    assert_eq!(
        found[2..],
        ["notes.txt", "sub"].map(|name| format!(
            "ralph/tasks/{name}:1:1: warning: this is ignored: tasks are files `*.md` directly in `ralph/tasks`"
        ))
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = tempfile::tempdir().unwrap();
    let (repository, elsewhere) = (place.path().join("repository"), place.path().join("elsewhere"));
    fs::create_dir_all(&elsewhere).unwrap();
    TaskFolder::new(&repository).create(&drafts()).unwrap();
    let file = repository.join(drafts()[0].file());
    assert_ne!(fs::metadata(&file).unwrap().permissions().mode() & 0o400, 0);
    fs::write(elsewhere.join("secret.md"), "secret").unwrap();
    symlink(
        elsewhere.join("secret.md"),
        repository.join("ralph/tasks/zzzzz.md"),
    )
    .unwrap();
    let found = messages(&TaskFolder::new(&repository).load().unwrap());
    assert!(found.len() == 1 && !found[0].contains("secret"), "{found:?}");
    fs::remove_dir_all(repository.join("ralph/tasks")).unwrap();
    symlink(&elsewhere, repository.join("ralph/tasks")).unwrap();
    let folder = TaskFolder::new(&repository);
    assert!(matches!(folder.load(), Err(FolderError::Link { .. })));
    assert!(matches!(folder.create(&drafts()), Err(FolderError::Link { .. })));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}
