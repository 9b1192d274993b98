//! Many at a time, and long runs.

use ralph_store::{RunQuery, catch_up};

use crate::ingest::{all_of, batches};
use crate::search::query;
use crate::stage::Stage;

pub(crate) async fn fifty_writers_and_readers_do_not_disturb_each_other(stage: &Stage) {
    let writers = (0..50).map(|run| {
        let store = stage.store.clone();
        tokio::spawn(async move {
            let cuts: Vec<u64> = (1..=20).map(|cut| cut * 5).collect();
            for batch in batches(&format!("run-{run:02}"), &cuts) {
                let ingested = store.ingest(vec![batch]).await.unwrap();
                assert!(ingested.disconnected.is_empty());
            }
        })
    });
    let readers = (0..50).map(|reader| {
        let store = stage.store.clone();
        tokio::spawn(async move {
            let run = format!("run-{reader:02}");
            for _ in 0..10 {
                let messages = store.messages(&run).await.unwrap();
                let head = store.run(&run).await.unwrap().map_or(0, |run| run.head_seq);
                assert!(messages.last().is_none_or(|message| message.seq <= head));
                if let Some(progress) = store.progress(&run).await.unwrap() {
                    assert_eq!(progress.summary.pending as usize, progress.approvals.len());
                }
                assert!(store.runs(&RunQuery::default()).await.unwrap().items.len() <= 50);
            }
        })
    });
    for task in writers.chain(readers).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let page = stage.store.runs(&RunQuery::default()).await.unwrap();
    assert_eq!(page.items.len(), 50);
    let expected = batches("x", &[100])[0].messages.len();
    for run in &page.items {
        assert_eq!(run.head_seq, 100);
        assert_eq!(stage.store.messages(&run.id).await.unwrap().len(), expected);
    }
    assert_eq!(stage.store.health().await.problem, None);
}

/// Ten runs that are followed while they are written, and then read again from the disk.
pub(crate) async fn real_journals_are_taken_in_live_and_at_once_alike(stage: &Stage) {
    let mut journals: Vec<_> = (0..10).map(|run| stage.run(&format!("run-{run}"))).collect();
    let mut said = 0;
    for round in 1..=12 {
        let mut all = Vec::new();
        for (index, journal) in journals.iter_mut().enumerate() {
            journal.work_until(journal.seq + 10 + index as u64);
            journal.call("Bash", "make");
            journal.finish_call("all is well");
            journal.say(&format!("round {round} is over"));
            said += 1;
            if round == 12 && index % 2 == 0 {
                journal.end();
            }
            all.push(journal.take());
        }
        let ingested = stage.store.ingest(all).await.unwrap();
        assert!(ingested.disconnected.is_empty());
        // Words are indexed from time to time, as they come.
        if round % 5 == 0 {
            stage.store.index_texts().await.unwrap();
        }
    }
    stage.store.index_texts().await.unwrap();
    let mut live = Vec::new();
    for journal in &journals {
        live.push(all_of(stage, &journal.id).await);
    }
    let found = stage.store.search(&query("\"is over\"")).await.unwrap();
    assert_eq!((found.hits.len(), found.lag), (said.min(100), 0));
    // There is nothing new on the disk …
    let caught_up = catch_up(&*stage.store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!((caught_up.records, caught_up.runs), (0, 0));
    // … and all of it is there.
    stage.store.clear().await.unwrap();
    let caught_up = catch_up(&*stage.store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!((caught_up.damaged, caught_up.runs), (0, 10));
    for (journal, live) in journals.iter().zip(live) {
        assert_eq!(all_of(stage, &journal.id).await, live, "{}", journal.id);
    }
}
