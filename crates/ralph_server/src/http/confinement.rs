//! `visible_workspaces` and `retain_visible`: what lists show to a token that is confined to workspaces.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ralph_store::{Hit, StoreError};

use crate::app::App;
use crate::auth::Principal;

/// The workspaces that whoever asks may see, of all in which runs have worked; `None` for all of them.
pub(super) async fn visible_workspaces(
    app: &App,
    principal: &Principal,
) -> Result<Option<Vec<String>>, StoreError> {
    if principal.workspaces.is_none() {
        return Ok(None);
    }
    let mut workspaces: BTreeSet<String> = app.store.workspaces().await?.into_iter().collect();
    // The index comes a little later than what goes on.
    let live = app.live.board().all();
    workspaces.extend(live.iter().map(|run| run.workspace.clone()));
    workspaces.retain(|workspace| principal.covers(Path::new(workspace)));
    Ok(Some(workspaces.into_iter().collect()))
}

/// Drops hits in runs that whoever asks may not see. The text index knows workspaces by short digests only, and a
/// directory can be given a name that has the digest of another one.
pub(super) async fn retain_visible(
    app: &App,
    principal: &Principal,
    hits: &mut Vec<Hit>,
) -> Result<(), StoreError> {
    if principal.workspaces.is_none() {
        return Ok(());
    }
    let mut is_visible: HashMap<String, bool> = HashMap::new();
    for hit in &*hits {
        if !is_visible.contains_key(&hit.run) {
            let workspace = app.live.workspace_of(&hit.run).await?;
            let covers = workspace.is_some_and(|workspace| principal.covers(Path::new(&workspace)));
            is_visible.insert(hit.run.clone(), covers);
        }
    }
    hits.retain(|hit| is_visible.get(&hit.run) == Some(&true));
    Ok(())
}
