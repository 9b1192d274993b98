//! Whether the changes of a branch are in another one, also if they were squashed or rebased on the way.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::repository::Repository;

/// How many commits of the base are compared with the branch as a whole.
const MAX_COMPARED: &str = "--max-count=500";

impl Repository {
    /// Whether everything that `commit` adds is in `base`. False if that cannot be proved.
    pub(crate) async fn is_merged(&self, commit: &str, base: &str) -> Result<bool, Error> {
        Ok(self.is_ancestor(commit, base).await?
            || self.merge_changes_nothing(commit, base, None).await?
            || self.was_squashed(commit, base).await?)
    }

    /// Whether a merge of `commit` into `base` would give the files of `base`: a proof that holds whatever way the
    /// changes came there. `from` replaces the common ancestor where history was rewritten.
    pub(crate) async fn merge_changes_nothing(
        &self,
        commit: &str,
        base: &str,
        from: Option<&str>,
    ) -> Result<bool, Error> {
        let mut arguments = vec!["merge-tree".to_owned(), "--write-tree".to_owned()];
        arguments.push("--no-messages".to_owned());
        arguments.extend(from.map(|from| format!("--merge-base={from}")));
        arguments.extend([base.to_owned(), commit.to_owned()]);
        // How files merge is written in `.gitattributes`, which git does not read outside of a checkout.
        let git = self.git().variable("GIT_ATTR_SOURCE", base);
        let merged = match git.answer(&arguments).await {
            // No common history, or a version of git that cannot do it.
            Err(Error::Git { .. }) => return Ok(false),
            merged => merged?,
        };
        let tree = format!("{base}^{{tree}}");
        let tree = self.git().text(&["rev-parse", "--verify", &tree]).await?;
        Ok(merged.as_deref() == Some(tree.as_str()))
    }

    /// Whether one commit of the base has the same patch as the branch as a whole: then it was squashed, even if the base
    /// has changed the same lines since.
    async fn was_squashed(&self, commit: &str, base: &str) -> Result<bool, Error> {
        let Some(ancestor) = self.git().answer(&["merge-base", commit, base]).await? else {
            return Ok(false);
        };
        let plain = ["--no-ext-diff", "--no-textconv", "--full-index", "--binary"];
        let diff = [&["diff"][..], &plain, &[&ancestor, commit, "--"]].concat();
        let whole = self.patch_ids(self.git().bytes(&diff).await?).await?;
        if whole.is_empty() {
            return Ok(false);
        }
        let range = format!("{ancestor}..{base}");
        let log = [
            &[
                "log",
                "--patch",
                "--no-merges",
                "--format=commit %H",
                MAX_COMPARED,
            ][..],
            &plain,
            &[&range, "--"],
        ];
        let known = match self.git().bytes(&log.concat()).await {
            Ok(patches) => self.patch_ids(patches).await?,
            // Too much to compare.
            Err(Error::Git { .. } | Error::GitTimedOut { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(whole.is_subset(&known))
    }

    async fn patch_ids(&self, patches: Vec<u8>) -> Result<BTreeSet<String>, Error> {
        let output = self.git().input(patches).text(&["patch-id", "--stable"]).await?;
        let ids = output.lines().filter_map(|line| line.split(' ').next());
        Ok(ids.map(str::to_owned).collect())
    }
}
