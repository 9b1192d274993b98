//! Questions about some workspaces only, as tokens that are confined to them ask.

use ralph_store::{ApprovalQuery, CostGroup, CostQuery, RunQuery, SearchMode, SearchQuery};

use crate::search::query;
use crate::stage::Stage;

fn only(workspaces: &[&str]) -> Option<Vec<String>> {
    Some(workspaces.iter().map(|path| (*path).to_owned()).collect())
}

/// One run in each of three workspaces, with a request, a usage and a word that all have.
async fn fill(stage: &Stage) {
    for (id, workspace) in [("a", "/one"), ("b", "/one/below"), ("c", "/two")] {
        let mut run = stage.run_in(id, workspace, "codex");
        run.say("needle");
        run.ask(&format!("request of {id}"));
        run.use_tokens(10, 1, Some("model"));
    }
    stage.catch_up().await;
}

/// Everything that is found in these workspaces: runs, requests, spenders and hits.
async fn found(stage: &Stage, within: Option<Vec<String>>) -> [String; 5] {
    let store = &stage.store;
    let runs = RunQuery {
        within: within.clone(),
        ..RunQuery::default()
    };
    let runs = store.runs(&runs).await.unwrap().items;
    let asked = ApprovalQuery {
        within: within.clone(),
        ..ApprovalQuery::default()
    };
    let asked = store.approvals(&asked).await.unwrap().items;
    let costs = CostQuery {
        within: within.clone(),
        group: CostGroup::Run,
        ..CostQuery::default()
    };
    let costs = store.costs(&costs).await.unwrap();
    let mut hits = Vec::new();
    for mode in [SearchMode::Words, SearchMode::Substring] {
        let search = SearchQuery {
            within: within.clone(),
            mode,
            ..query("needle")
        };
        hits.push(store.search(&search).await.unwrap().hits);
    }
    let sorted = |names: Vec<String>| {
        let mut names = names;
        names.sort();
        names.concat()
    };
    let [words, characters] =
        [0, 1].map(|mode| sorted(hits[mode].iter().map(|hit| hit.run.clone()).collect()));
    [
        sorted(runs.into_iter().map(|run| run.id).collect()),
        sorted(asked.into_iter().map(|row| row.run).collect()),
        sorted(costs.into_iter().map(|row| row.key).collect()),
        words,
        characters,
    ]
}

pub(crate) async fn a_question_about_some_workspaces_has_no_answer_from_others(stage: &Stage) {
    fill(stage).await;
    let all = ["/one", "/one/below", "/two"];
    assert_eq!(stage.store.workspaces().await.unwrap(), all);
    for (within, runs) in [
        (None, "abc"),
        (only(&all), "abc"),
        (only(&["/one"]), "a"),
        (only(&["/one/below", "/two"]), "bc"),
        (only(&["/elsewhere", "/tw", "/one/"]), ""),
        (only(&[]), ""),
    ] {
        assert_eq!(found(stage, within.clone()).await, [runs; 5], "{within:?}");
    }
    // What removed runs cost is asked for by their workspace, too.
    stage.store.remove(&["a".to_owned()]).await.unwrap();
    assert_eq!(stage.store.workspaces().await.unwrap(), all);
    assert_eq!(found(stage, only(&["/one"])).await, ["", "", "a", "", ""]);
    assert_eq!(found(stage, only(&["/two"])).await, ["c"; 5]);
}

pub(crate) async fn what_the_text_index_lacks_is_counted_in_these_workspaces_only(stage: &Stage) {
    fill(stage).await;
    stage.run_in("d", "/two", "codex").say("needle");
    ralph_store::catch_up(&*stage.store, &stage.runs(), |_| {})
        .await
        .unwrap();
    for (within, lag) in [(None, 2), (only(&["/two"]), 2), (only(&["/one"]), 0)] {
        let asked = SearchQuery {
            within,
            ..query("needle")
        };
        let page = stage.store.search(&asked).await.unwrap();
        assert!(page.is_complete);
        assert_eq!(page.lag, lag, "{asked:?}");
    }
}
