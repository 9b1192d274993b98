//! Creating worktrees: from which commit, with what in them, and many at once.

use std::collections::BTreeSet;
use std::fs;

use worktrees::{Error, NewWorktree, Note, WorktreeName};

use crate::stage::{Stage, named, write};

#[tokio::test]
async fn a_worktree_is_outside_of_the_repository_on_its_own_branch_from_a_recorded_commit() {
    let stage = Stage::new();
    let created = stage.create("fix").await;
    let worktree = &created.worktree;
    let repository = stage.repository().await;
    assert_eq!(
        worktree.path,
        stage.path("state").join(repository.id()).join("fix")
    );
    assert_eq!(worktree.base.as_deref(), Some("refs/heads/main"));
    assert_eq!(Some(&worktree.base_commit), stage.tip("main").as_ref());
    assert_eq!(
        stage.git_in(&worktree.path, &["branch", "--show-current"]),
        "ralph/fix"
    );
    assert_eq!(fs::read_to_string(worktree.path.join("b.txt")).unwrap(), "b\n");
    assert_eq!(created.notes, []);
    assert_eq!(&repository.worktree(&named("fix")).unwrap(), worktree);
    // The branch follows no other one, and the main checkout is as it was.
    let upstream = stage.git(&["for-each-ref", "--format=%(upstream)", "refs/heads/ralph/fix"]);
    assert_eq!(upstream, "");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn every_worktree_and_folder_leads_to_the_same_repository() {
    let stage = Stage::new();
    write(&stage.checkout().join("sub/x"), "x");
    let worktree = stage.create("fix").await.worktree;
    let own = stage.repository().await;
    for folder in [stage.checkout().join("sub"), worktree.path.clone()] {
        let found = stage.find(&folder).await.unwrap();
        assert_eq!(found.id(), own.id());
        assert_eq!(found.checkout(), stage.checkout());
    }
    let around = own.worktree_around(&worktree.path.join("not-there"));
    assert_eq!(around.map(|found| found.name), Some(named("fix")));
    assert_eq!(own.worktree_around(&stage.checkout()), None);
}

#[tokio::test]
async fn forty_that_are_created_at_once_all_succeed_with_ports_of_their_own() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let creating = (0..40).map(|number| {
        let repository = repository.clone();
        tokio::spawn(async move {
            let name = WorktreeName::parse(&format!("task-{number}")).unwrap();
            repository.create(&name, &NewWorktree::default()).await
        })
    });
    let creating: Vec<_> = creating.collect();
    let mut ports = BTreeSet::new();
    for created in creating {
        let created = created.await.unwrap().unwrap();
        assert!(created.worktree.path.join("a.txt").exists());
        ports.insert(created.worktree.port_base.unwrap());
    }
    assert_eq!(ports.len(), 40);
    assert!(ports.iter().all(|port| port % 10 == 0 && *port >= 20_000));
    assert_eq!(
        repository.worktrees().into_iter().filter(Result::is_ok).count(),
        40
    );
    let listed = stage.git(&["worktree", "list"]);
    assert_eq!(listed.lines().count(), 41);
}

#[tokio::test]
async fn of_many_that_want_the_same_name_one_gets_it() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    let creating: Vec<_> = (0..6)
        .map(|_| {
            let repository = repository.clone();
            tokio::spawn(async move { repository.create(&named("one"), &NewWorktree::default()).await })
        })
        .collect();
    let mut created = 0;
    for result in creating {
        match result.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert!(matches!(error, Error::Exists(_)), "{error}"),
        }
    }
    assert_eq!(created, 1);
    assert!(
        repository
            .worktree(&named("one"))
            .unwrap()
            .path
            .join("a.txt")
            .exists()
    );
}

#[tokio::test]
async fn ignored_files_that_are_asked_for_are_copied_and_never_linked() {
    let stage = Stage::new();
    stage.write(".worktreeinclude", ".env\n/target/deps\n");
    stage.commit("Include");
    stage.write(".env", "KEY=1\n");
    stage.write("target/deps/lib", "lib\n");
    stage.write("target/other", "not asked for\n");
    stage.write("notes.txt", "not ignored, so not copied\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("lib", stage.checkout().join("target/deps/inner")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", stage.checkout().join("target/deps/outer")).unwrap();
    }
    let created = stage.create("fix").await;
    let path = |name: &str| created.worktree.path.join(name);
    assert_eq!(fs::read_to_string(path(".env")).unwrap(), "KEY=1\n");
    assert_eq!(fs::read_to_string(path("target/deps/lib")).unwrap(), "lib\n");
    assert!(!path("target/other").exists() && !path("notes.txt").exists());
    #[cfg(unix)]
    {
        assert_eq!(
            fs::read_link(path("target/deps/inner")).unwrap().to_str(),
            Some("lib")
        );
        assert!(fs::symlink_metadata(path("target/deps/outer")).is_err());
        let skipped = |note: &Note| matches!(note, Note::NotCopied { .. });
        assert!(created.notes.iter().any(skipped), "{:?}", created.notes);
    }
    // A change in one place does not show in the other.
    fs::write(path(".env"), "KEY=2\n").unwrap();
    assert_eq!(stage.read(".env"), "KEY=1\n");
    let new = NewWorktree {
        copy: vec!["/target/other".to_owned()],
        ..NewWorktree::default()
    };
    let more = stage
        .repository()
        .await
        .create(&named("more"), &new)
        .await
        .unwrap();
    assert!(more.worktree.path.join("target/other").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_commit_does_not_lead_a_copy_out_of_the_worktree() {
    let stage = Stage::new();
    let outside = stage.path("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, stage.checkout().join("data")).unwrap();
    stage.write(".worktreeinclude", "secret\n");
    stage.write(".gitignore", "secret\n");
    stage.commit("A link");
    fs::remove_file(stage.checkout().join("data")).unwrap();
    stage.write("data/secret", "x\n");
    stage.create("fix").await;
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[tokio::test]
async fn hooks_and_signing_of_the_repository_neither_run_nor_hang() {
    let stage = Stage::new();
    let proof = stage.path("proof");
    for hook in [
        "post-checkout",
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
    ] {
        let path = stage.checkout().join(".git/hooks").join(hook);
        write(&path, &format!("#!/bin/sh\ntouch {}\nexit 1\n", proof.display()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    stage.git(&["config", "commit.gpgSign", "true"]);
    stage.git(&["config", "gpg.program", "false"]);
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("new"), "x");
    let repository = stage.repository().await;
    let left = repository
        .commit_leftovers(&worktree.name, "Leftovers")
        .await
        .unwrap();
    assert!(left.commit.is_some());
    assert!(!proof.exists());
}

#[tokio::test]
async fn a_repository_without_commits_or_a_bare_one_or_none_is_refused_with_what_to_do() {
    let empty = Stage::empty();
    let repository = empty.repository().await;
    let refused = repository
        .create(&named("fix"), &NewWorktree::default())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("has no commits"), "{refused}");
    assert!(repository.worktrees().is_empty());

    let stage = Stage::new();
    stage.git(&["clone", "--quiet", "--bare", ".", "../bare"]);
    let refused = stage.find(&stage.path("bare")).await.unwrap_err();
    assert!(matches!(refused, Error::Bare(_)), "{refused}");
    let refused = stage.find(&stage.path("home")).await.unwrap_err();
    assert!(matches!(refused, Error::NotARepository(_)), "{refused}");
}

#[tokio::test]
async fn a_detached_dirty_or_shallow_checkout_is_used_and_said() {
    let stage = Stage::new();
    stage.write("a.txt", "changed\n");
    stage.write("new.txt", "new\n");
    stage.git(&["checkout", "--quiet", "--detach"]);
    let created = stage.create("fix").await;
    assert_eq!(created.notes, [Note::NoBaseBranch, Note::CheckoutDirty(2)]);
    assert_eq!(created.worktree.base, None);
    assert!(!created.worktree.path.join("new.txt").exists());
    assert_eq!(stage.read("a.txt"), "changed\n");

    stage.git(&["checkout", "--quiet", "--force", "main"]);
    stage.commit("Second");
    let url = format!("file://{}", stage.checkout().display());
    let shallow = stage.path("shallow");
    stage.git(&["clone", "--quiet", "--depth=1", &url, shallow.to_str().unwrap()]);
    let repository = stage.find(&shallow).await.unwrap();
    let created = repository
        .create(&named("fix"), &NewWorktree::default())
        .await
        .unwrap();
    assert!(created.notes.contains(&Note::Shallow), "{:?}", created.notes);
}

#[tokio::test]
async fn a_sparse_checkout_gives_a_sparse_worktree() {
    let stage = Stage::new();
    stage.write("in/x", "x\n");
    stage.write("out/x", "x\n");
    stage.commit("Folders");
    stage.git(&["sparse-checkout", "set", "in"]);
    let created = stage.create("fix").await;
    assert!(created.notes.contains(&Note::Sparse), "{:?}", created.notes);
    assert!(created.worktree.path.join("in/x").exists());
    assert!(!created.worktree.path.join("out/x").exists());
}

#[tokio::test]
async fn submodules_are_not_fetched_and_that_is_said() {
    let stage = Stage::new();
    let other = Stage::new();
    let url = other.checkout();
    stage.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        url.to_str().unwrap(),
        "library",
    ]);
    stage.commit("A submodule");
    stage.git(&["config", "submodule.recurse", "true"]);
    let created = stage.create("fix").await;
    let expected = Note::Submodules(vec!["library".into()]);
    assert!(created.notes.contains(&expected), "{:?}", created.notes);
    assert!(!created.worktree.path.join("library/a.txt").exists());
}

#[tokio::test]
async fn a_remote_branch_is_fetched_first_and_the_distance_of_a_local_one_is_said() {
    let stage = Stage::new();
    let clone = stage.path("clone");
    stage.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let newest = stage.commit("Newer");
    let repository = stage.find(&clone).await.unwrap();
    let new = NewWorktree {
        base: Some("origin/main".to_owned()),
        ..NewWorktree::default()
    };
    let created = repository.create(&named("fresh"), &new).await.unwrap();
    assert_eq!(created.worktree.base_commit, newest);
    assert_eq!(created.worktree.base.as_deref(), Some("refs/remotes/origin/main"));
    let local = repository
        .create(&named("old"), &NewWorktree::default())
        .await
        .unwrap();
    let behind = Note::Behind {
        base: "main".to_owned(),
        upstream: "origin/main".to_owned(),
        commits: 1,
    };
    assert_eq!(local.notes, [behind]);
    // Without its remote, what is known is used.
    stage.git_in(&clone, &["remote", "set-url", "origin", "/nowhere"]);
    let offline = repository.create(&named("offline"), &new).await.unwrap();
    assert_eq!(offline.worktree.base_commit, newest);
    assert!(
        matches!(offline.notes.as_slice(), [Note::FetchFailed { .. }]),
        "{:?}",
        offline.notes
    );
}

#[tokio::test]
async fn a_base_or_name_that_cannot_be_is_refused_and_leaves_nothing() {
    let stage = Stage::new();
    let repository = stage.repository().await;
    for base in ["nothing", "--upload-pack=x", "main..main", "main:a.txt", ""] {
        let new = NewWorktree {
            base: Some(base.to_owned()),
            ..NewWorktree::default()
        };
        let refused = repository.create(&named("fix"), &new).await.unwrap_err();
        assert!(matches!(refused, Error::UnknownBase(_)), "{base}: {refused}");
    }
    stage.git(&["branch", "ralph/taken"]);
    let refused = repository
        .create(&named("taken"), &NewWorktree::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::BranchExists { .. }), "{refused}");
    assert!(stage.tip("ralph/taken").is_some());
    stage.git(&["branch", "-D", "--quiet", "ralph/taken"]);
    // git cannot have a branch below another one.
    stage.git(&["branch", "ralph"]);
    let refused = repository
        .create(&named("fix"), &NewWorktree::default())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("ralph"), "{refused}");
    assert!(repository.worktrees().is_empty());
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_worktree_that_was_deleted_by_hand_comes_back_from_its_branch() {
    let stage = Stage::new();
    let worktree = stage.create("fix").await.worktree;
    write(&worktree.path.join("work.txt"), "work\n");
    stage.commit_in(&worktree.path, "Work");
    let repository = stage.repository().await;
    let refused = repository
        .recreate(&worktree.name, &NewWorktree::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Exists(_)), "{refused}");
    fs::remove_dir_all(&worktree.path).unwrap();
    let status = repository.status(&worktree.name).await.unwrap();
    assert_eq!((status.dirt, status.ahead), (None, 1));
    let again = repository
        .recreate(&worktree.name, &NewWorktree::default())
        .await
        .unwrap();
    assert_eq!(again.notes, [Note::Recreated]);
    assert_eq!(
        fs::read_to_string(worktree.path.join("work.txt")).unwrap(),
        "work\n"
    );
    assert_eq!(again.worktree.base_commit, worktree.base_commit);
    fs::remove_dir_all(&worktree.path).unwrap();
    stage.git(&["worktree", "prune"]);
    stage.git(&["branch", "-D", "--quiet", "ralph/fix"]);
    let refused = repository
        .recreate(&worktree.name, &NewWorktree::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::BranchGone { .. }), "{refused}");
}
