//! Bringing an index to where the journals are.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};

use crate::journal_stage::{Stage, line};
use ralph_run::model::RunState;
use ralph_store::{ApprovalQuery, CostQuery, RunQuery, SqliteStore, Store, catch_up, catch_up_runs, reindex};

/// How many runs of a conversation the index has.
async fn runs_of_session(store: &SqliteStore, session: &str) -> usize {
    let query = RunQuery {
        session: Some(session.to_owned()),
        ..RunQuery::default()
    };
    store.runs(&query).await.unwrap().items.len()
}

/// Everything an index knows, as text.
async fn everything(store: &SqliteStore) -> String {
    let runs = store.runs(&RunQuery::default()).await.unwrap().items;
    let mut all = format!("{:?}", store.costs(&CostQuery::default()).await.unwrap());
    for run in &runs {
        let messages = store.messages(&run.id).await.unwrap();
        let sessions = runs_of_session(store, &format!("s-{}", run.id)).await;
        let progress = store.progress(&run.id).await.unwrap();
        all += &format!("\n{run:?} {messages:?} {sessions} {progress:?}");
    }
    all + &format!(
        "\n{:?}",
        store.approvals(&ApprovalQuery::default()).await.unwrap()
    )
}

#[tokio::test]
async fn what_is_on_the_disk_is_taken_in_once() {
    let stage = Stage::new();
    stage.write_run("a", 100, true);
    stage.write_run("b", 50, false);
    fs::create_dir(stage.runs().join("no-journal-yet")).unwrap();
    fs::create_dir(stage.runs().join(".removing-c")).unwrap();
    let store = stage.open().await.store;
    let mut told = Vec::new();
    let caught_up = catch_up(&store, &stage.runs(), |progress| told.push(progress))
        .await
        .unwrap();
    assert_eq!(caught_up.runs, 2);
    assert_eq!(caught_up.damaged, 0);
    let sizes = ["a", "b"].map(|run| fs::metadata(stage.journal(run)).unwrap().len());
    assert_eq!(caught_up.bytes, sizes.iter().sum::<u64>());
    let last = told.last().unwrap();
    assert_eq!(
        (last.bytes, last.all_bytes, last.runs),
        (caught_up.bytes, caught_up.bytes, 2)
    );

    let page = store.runs(&RunQuery::default()).await.unwrap();
    let names: Vec<_> = page
        .items
        .iter()
        .map(|run| (run.id.as_str(), run.head_seq))
        .collect();
    assert_eq!(names, [("b", 50), ("a", 100)]);
    assert!(page.items[1].activity.has_ended());
    let again = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!((again.runs, again.bytes, again.records), (0, 0, 0));
}

#[tokio::test]
async fn a_journal_that_grows_is_read_from_where_it_was() {
    let stage = Stage::new();
    stage.write_run("a", 60, false);
    let store = stage.open().await.store;
    let mut whole = String::new();
    for seq in 61..=200 {
        whole += &format!("{}\n", line("a", seq));
    }
    // Cut anywhere, also within a line, which is not there before its end is.
    for (from, to) in [(0, 700), (700, 701), (701, 9_000), (9_000, whole.len())] {
        stage.append("a", &whole[from..to]);
        catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    }
    let other = Stage::new();
    other.write_run("a", 200, false);
    let at_once = other.open().await.store;
    catch_up(&at_once, &other.runs(), |_| {}).await.unwrap();
    assert_eq!(everything(&store).await, everything(&at_once).await);
}

#[tokio::test]
async fn an_index_that_is_rebuilt_is_the_same() {
    let stage = Stage::new();
    for run in 0..30 {
        stage.write_run(&format!("run-{run:02}"), 20 + run * 7, run % 3 == 0);
    }
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let before = everything(&store).await;
    let caught_up = reindex(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.runs, 30);
    assert_eq!(everything(&store).await, before);
}

#[tokio::test]
async fn a_run_that_is_gone_is_forgotten() {
    let stage = Stage::new();
    stage.write_run("a", 50, true);
    stage.write_run("b", 50, true);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    fs::remove_dir_all(stage.runs().join("a")).unwrap();
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.removed, ["a"]);
    assert!(store.run("a").await.unwrap().is_none());
    assert!(store.messages("a").await.unwrap().is_empty());
    assert_eq!(runs_of_session(&store, "s-a").await, 0);
    assert_eq!(store.run("b").await.unwrap().unwrap().head_seq, 50);
}

#[tokio::test]
async fn a_run_that_is_followed_from_now_on_stays_in_the_index() {
    let stage = Stage::new();
    stage.write_run("a", 50, false);
    stage.write_run("b", 50, false);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let before = everything(&store).await;
    // Whether a run is followed can change between any two questions.
    let asked = Arc::new(Mutex::new(HashMap::new()));
    for is_wanted_at_first in [true, false] {
        let asked = asked.clone();
        asked.lock().unwrap().clear();
        let is_wanted = move |run: &str| {
            let mut asked = asked.lock().unwrap();
            let times: &mut u32 = asked.entry(run.to_owned()).or_default();
            *times += 1;
            (*times == 1) == is_wanted_at_first
        };
        let caught_up = catch_up_runs(&store, &stage.runs(), is_wanted, |_| {})
            .await
            .unwrap();
        assert_eq!(caught_up.removed, [""; 0]);
        assert_eq!(caught_up.runs, 0, "both are up to date");
        assert_eq!(everything(&store).await, before);
    }
}

#[tokio::test]
async fn a_run_that_is_not_wanted_is_left_as_it_is() {
    let stage = Stage::new();
    for run in ["gone", "longer", "new"] {
        stage.write_run(run, 20, true);
    }
    let store = stage.open().await.store;
    catch_up_runs(&store, &stage.runs(), |run| run != "new", |_| {})
        .await
        .unwrap();
    assert!(store.run("new").await.unwrap().is_none());
    fs::remove_dir_all(stage.runs().join("gone")).unwrap();
    stage.append("longer", &format!("{}\n", line("longer", 21)));
    catch_up_runs(&store, &stage.runs(), |_| false, |_| {})
        .await
        .unwrap();
    assert!(store.run("gone").await.unwrap().is_some());
    assert_eq!(store.run("longer").await.unwrap().unwrap().head_seq, 20);
    fs::remove_file(stage.journal("longer")).unwrap();
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.removed, ["gone"]);
    assert!(store.run("longer").await.unwrap().is_none(), "it has no journal");
    assert!(store.run("new").await.unwrap().is_some());
}

#[tokio::test]
async fn another_journal_under_the_same_name_takes_its_place() {
    let stage = Stage::new();
    stage.write_run("a", 50, true);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let epoch = store.run("a").await.unwrap().unwrap().epoch;
    for lines in [200, 20] {
        let text = fs::read_to_string(stage.journal("a")).unwrap();
        stage.write_run("a", lines, false);
        let other = fs::read_to_string(stage.journal("a")).unwrap();
        let began = format!("/w/{lines}");
        fs::write(stage.journal("a"), other.replacen("/w/1", &began, 1)).unwrap();
        assert_ne!(fs::read_to_string(stage.journal("a")).unwrap().len(), text.len());
        catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
        let run = store.run("a").await.unwrap().unwrap();
        assert_eq!((run.head_seq, run.workspace), (lines, began));
        assert_ne!(run.epoch, epoch);
    }
}

#[tokio::test]
async fn a_journal_that_was_cut_and_went_on_is_read_again() {
    let whole = {
        let stage = Stage::new();
        stage.write_run("a", 60, false);
        fs::read_to_string(stage.journal("a")).unwrap()
    };
    let ended = line("a", 52).replacen("tool_started", "run_ended", 1);
    let ends: Vec<usize> = whole.match_indices('\n').map(|(end, _)| end + 1).collect();
    // What comes instead of the lost lines is shorter, a little longer or much longer than they are.
    for kept in 40..60 {
        let lost = whole.len() - ends[kept - 1];
        for length in [lost / 2, lost + 1, lost + 7, lost + 5_000] {
            let stage = Stage::new();
            stage.write_run("a", 60, false);
            let store = stage.open().await.store;
            catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
            store.index_texts().await.unwrap();
            let seq = format!("\"seq\":{}", kept + 1);
            let ended = ended.replacen("\"seq\":52", &seq, 1);
            let spaces = " ".repeat(length.saturating_sub(ended.len() + 1));
            fs::write(
                stage.journal("a"),
                format!("{}{ended}{spaces}\n", &whole[..ends[kept - 1]]),
            )
            .unwrap();
            catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
            store.index_texts().await.unwrap();

            let data = tempfile::tempdir().unwrap();
            let options = ralph_store::SqliteOptions {
                data_directory: data.path().to_owned(),
                runs_directory: stage.runs(),
                home: None,
            };
            let anew = SqliteStore::open(options).await.unwrap().store;
            catch_up(&anew, &stage.runs(), |_| {}).await.unwrap();
            assert_eq!(
                everything(&store).await,
                everything(&anew).await,
                "{kept} {length}"
            );
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_run_that_cannot_be_looked_at_is_told_and_not_forgotten() {
    use std::os::unix::fs::symlink;
    let stage = Stage::new();
    stage.write_run("a", 50, true);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    fs::remove_file(stage.journal("a")).unwrap();
    // A link to itself can be followed by nobody, whoever asks.
    symlink("journal.ndjson", stage.journal("a")).unwrap();
    fs::write(stage.runs().join("no-directory"), "").unwrap();
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.removed, [""; 0]);
    let unreadable: Vec<_> = caught_up.unreadable.iter().map(|(run, _)| run.as_str()).collect();
    assert_eq!(unreadable, ["a"]);
    assert!(store.run("a").await.unwrap().is_some());
}

#[tokio::test]
async fn a_directory_of_runs_that_is_away_costs_the_index_nothing() {
    let stage = Stage::new();
    stage.write_run("a", 50, true);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let away = stage.runs().with_file_name("away");
    fs::rename(stage.runs(), &away).unwrap();
    assert!(catch_up(&store, &stage.runs(), |_| {}).await.is_err());
    assert!(store.run("a").await.unwrap().is_some());
    fs::rename(away, stage.runs()).unwrap();
    assert_eq!(catch_up(&store, &stage.runs(), |_| {}).await.unwrap().runs, 0);
}

#[tokio::test]
async fn a_copied_directory_is_another_run() {
    let stage = Stage::new();
    stage.write_run("a", 20, true);
    fs::create_dir(stage.runs().join("b")).unwrap();
    fs::copy(stage.journal("a"), stage.journal("b")).unwrap();
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 20);
    assert_eq!(store.run("b").await.unwrap().unwrap().head_seq, 20);
}

#[tokio::test]
async fn damage_in_a_journal_costs_the_damaged_lines_only() {
    let stage = Stage::new();
    stage.write_run("a", 40, false);
    stage.append("a", "\u{0}\u{0}{\"seq\":41,\n\n");
    stage.append("a", &format!("{}\n", line("a", 42)));
    let store = stage.open().await.store;
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.damaged, 2);
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 42);
}

#[tokio::test]
async fn a_run_whose_first_record_is_damaged_is_there_with_what_is_known() {
    let stage = Stage::new();
    let line = |seq| format!("{}\n", line("a", seq));
    for (run, first) in [
        ("garbled", "\u{0}\u{0}{\"seq\":1,\n"),
        ("empty", "\n"),
        ("lost", &line(2)),
    ] {
        stage.write_run(run, 0, false);
        stage.append(run, &format!("{first}{}", line(5)));
    }
    let store = stage.open().await.store;
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.records, 1 + 1 + 2);
    for run in ["garbled", "empty", "lost"] {
        let summary = store.run(run).await.unwrap().unwrap();
        assert_eq!((summary.id.as_str(), summary.head_seq), (run, 5));
        assert!(summary.message.unwrap().contains("not known"));
    }
    // Nothing is read twice, and it goes on.
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(caught_up.runs, 0);
    stage.append("garbled", &line(6));
    let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!((caught_up.runs, caught_up.records), (1, 1));
    assert_eq!(store.run("garbled").await.unwrap().unwrap().head_seq, 6);
    stage.append(
        "garbled",
        "{\"seq\":7,\"at\":\"2026-01-01T00:00:07Z\",\"iteration\":1,\"attempt\":1,\"event\":{\"type\":\"run_ended\",\"data\":{\"reason\":\"completed\",\"exit_code\":0}}}\n",
    );
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let ended = store.run("garbled").await.unwrap().unwrap();
    assert!(ended.ended_at.is_some() && ended.message.unwrap().contains("not known"));
}

#[tokio::test]
async fn without_runs_there_is_nothing_to_do() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    let nowhere = stage.runs().join("nowhere");
    let caught_up = catch_up(&store, &nowhere, |_| {}).await.unwrap();
    assert_eq!(caught_up.runs, 0);
}

#[tokio::test]
async fn of_a_run_without_news_only_the_size_of_its_journal_is_looked_at() {
    let stage = Stage::new();
    let runs: Vec<String> = (0..300).map(|run| format!("run-{run:03}")).collect();
    for run in &runs {
        stage.write_run(run, 6, true);
    }
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let before = everything(&store).await;
    store.close().await.unwrap();
    // Whoever opens one of these now finds other lines than were indexed.
    for run in &runs {
        let size = fs::metadata(stage.journal(run)).unwrap().len();
        let nothing = " ".repeat(usize::try_from(size).unwrap());
        fs::write(stage.journal(run), nothing).unwrap();
    }
    let store = stage.open().await.store;
    let mut told = 0;
    let caught_up = catch_up(&store, &stage.runs(), |_| told += 1).await.unwrap();
    assert_eq!(told, 0, "there is nothing to read");
    assert_eq!((caught_up.runs, caught_up.bytes, caught_up.damaged), (0, 0, 0));
    assert!(caught_up.removed.is_empty() && caught_up.unreadable.is_empty());
    assert_eq!(everything(&store).await, before);
}

#[tokio::test]
async fn a_run_that_is_written_meanwhile_is_never_half_known() {
    let stage = Stage::new();
    stage.write_run("a", 5, false);
    let store = stage.open().await.store;
    let journal = stage.journal("a");
    let writing = tokio::task::spawn_blocking(move || {
        for seq in 6..=3_000 {
            crate::journal_stage::append(&journal, &format!("{}\n", line("a", seq)));
        }
    });
    while !writing.is_finished() {
        // Two at a time: what one has taken in, the other leaves out.
        let runs = stage.runs();
        let (one, other) = tokio::join!(catch_up(&store, &runs, |_| {}), catch_up(&store, &runs, |_| {}));
        one.unwrap();
        other.unwrap();
        let progress = store.progress("a").await.unwrap().unwrap();
        assert_ne!(progress.summary.activity, RunState::default());
    }
    writing.await.unwrap();
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let other = Stage::new();
    other.write_run("a", 3_000, false);
    let at_once = other.open().await.store;
    catch_up(&at_once, &other.runs(), |_| {}).await.unwrap();
    assert_eq!(everything(&store).await, everything(&at_once).await);
}
