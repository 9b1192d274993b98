//! The tables of `ralph.db`, as steps from each version to the next.

/// One step from a version to the next, as SQL. A step that was released never changes.
pub(super) const MIGRATIONS: &[&str] = &[FIRST, SECOND, THIRD];

/// A record, a usage row, a question and a message are known by `key`: the run's number and the record's seq in one
/// integer. So there is one B-tree, appended to at the end of each run, without a second index and with keys that are
/// compared as integers. All times are nanoseconds since 1970, all money millionths of a dollar.
const FIRST: &str = "
    CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE run(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        epoch TEXT NOT NULL,
        workspace TEXT NOT NULL,
        backend TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        has_ended INTEGER NOT NULL,
        is_waiting INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        head_seq INTEGER NOT NULL,
        summary TEXT NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX run_by_start ON run(started_at, id);
    CREATE INDEX run_by_workspace ON run(workspace, started_at, id);
    CREATE INDEX run_live ON run(started_at, id) WHERE has_ended = 0;
    CREATE TABLE session(
        session TEXT NOT NULL,
        run INTEGER NOT NULL,
        PRIMARY KEY(session, run)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX session_by_run ON session(run);
    CREATE TABLE record(
        key INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE usage(
        key INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        model TEXT,
        input INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        output INTEGER NOT NULL,
        reasoning INTEGER NOT NULL,
        cost INTEGER,
        is_estimate INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX usage_by_time ON usage(at);
    CREATE TABLE approval(
        key INTEGER PRIMARY KEY,
        request TEXT NOT NULL,
        kind INTEGER NOT NULL,
        asked_at INTEGER NOT NULL,
        data TEXT NOT NULL,
        state INTEGER NOT NULL,
        closed_at INTEGER
    ) STRICT;
    CREATE INDEX approval_by_time ON approval(asked_at, key);
    CREATE INDEX approval_pending ON approval(asked_at, key) WHERE state = 0;
    CREATE TABLE message(
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        command_id TEXT NOT NULL,
        at INTEGER NOT NULL,
        mode TEXT NOT NULL,
        text TEXT NOT NULL,
        state INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE remembered(
        key TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        status INTEGER NOT NULL,
        body TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX remembered_by_time ON remembered(at);
    INSERT INTO meta VALUES('is_open', 0);
";

/// The state directory that the index belongs to, the costs of removed runs, and columns for what is counted. The table
/// of runs is made again so that short columns come before the long ones: SQLite reads a row from its start, and what is
/// behind a long text costs further pages. Rows keep an unknown fold version, so that catching up reads the runs again.
const SECOND: &str = "
    CREATE TABLE home(id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE usage_day(
        run TEXT NOT NULL,
        at INTEGER NOT NULL,
        model TEXT,
        workspace TEXT NOT NULL,
        backend TEXT NOT NULL,
        messages INTEGER NOT NULL,
        input INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        output INTEGER NOT NULL,
        reasoning INTEGER NOT NULL,
        cost INTEGER,
        is_estimate INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX usage_day_by_run ON usage_day(run);
    CREATE INDEX usage_day_by_time ON usage_day(at);
    ALTER TABLE run RENAME TO old_run;
    DROP INDEX run_by_start;
    DROP INDEX run_by_workspace;
    DROP INDEX run_live;
    CREATE TABLE run(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        epoch TEXT NOT NULL,
        workspace TEXT NOT NULL,
        backend TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        reason TEXT NOT NULL,
        has_ended INTEGER NOT NULL,
        is_waiting INTEGER NOT NULL,
        fold_version INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        head_seq INTEGER NOT NULL,
        summary TEXT NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    INSERT INTO run SELECT number, id, epoch, workspace, backend, started_at,
        NULL, CASE WHEN has_ended THEN 'unknown' ELSE '' END, has_ended,
        is_waiting, 0, offset, head_seq, summary, state FROM old_run;
    DROP TABLE old_run;
    CREATE INDEX run_by_start ON run(started_at, id);
    CREATE INDEX run_by_workspace ON run(workspace, started_at, id);
    CREATE INDEX run_live ON run(started_at, id) WHERE has_ended = 0;
    CREATE INDEX run_by_reason ON run(reason) WHERE has_ended = 1;
    CREATE INDEX message_queued ON message(key) WHERE state = 0;
";

/// Pages of records are read from the journal, which is sorted by number: their rows were most of the file.
const THIRD: &str = "DROP TABLE record; DROP TABLE kind;";

/// How many bits of a key are the record's seq.
const SEQ_BITS: u32 = 40;

/// The key of a record; none if its number is beyond all measure.
pub(super) fn key(run: i64, seq: u64) -> Option<i64> {
    let seq = i64::try_from(seq).ok().filter(|seq| seq >> SEQ_BITS == 0)?;
    run.checked_mul(1 << SEQ_BITS)?.checked_add(seq)
}

/// The last key that a run can have.
pub(super) fn last_key(run: i64) -> i64 {
    key(run, (1 << SEQ_BITS) - 1).unwrap_or(i64::MAX)
}

/// The record's seq in a key.
pub(super) fn seq_of(key: i64) -> u64 {
    (key & ((1 << SEQ_BITS) - 1)).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::{SEQ_BITS, key, last_key, seq_of};

    #[test]
    fn a_key_is_a_run_and_a_number_in_order() {
        assert_eq!(key(3, 7).map(seq_of), Some(7));
        assert!(key(3, u64::MAX).is_none() && key(3, 1 << SEQ_BITS).is_none());
        assert!(key(3, 1) < key(3, 2) && key(3, 2) < Some(last_key(3)) && Some(last_key(3)) < key(4, 0));
        assert_eq!(SEQ_BITS, 40, "as in the SQL of `read` and `usage`");
    }
}
