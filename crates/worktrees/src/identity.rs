//! Who commits: the user, or ralph where git knows no user.

use std::path::Path;

use crate::error::Error;
use crate::git::Git;
use crate::repository::Repository;

const NAME: &str = "ralph";
const EMAIL: &str = "ralph@localhost";

impl Repository {
    /// git with an identity, so that a commit does not fail for lack of one.
    pub(crate) async fn git_to_commit(&self, folder: &Path) -> Result<Git, Error> {
        // Without this setting git would make up an address from the name of the machine.
        let known = self
            .git_in(folder)
            .setting("user.useConfigOnly=true")
            .run(&["var", "GIT_COMMITTER_IDENT"])
            .await;
        match known {
            Ok(()) => Ok(self.git_in(folder)),
            Err(Error::Git { .. }) => Ok(as_ralph(self.git_in(folder))),
            Err(error) => Err(error),
        }
    }
}

/// For commits that only keep something.
pub(crate) fn as_ralph(git: Git) -> Git {
    ["AUTHOR", "COMMITTER"].into_iter().fold(git, |git, role| {
        git.variable(&format!("GIT_{role}_NAME"), NAME)
            .variable(&format!("GIT_{role}_EMAIL"), EMAIL)
    })
}
