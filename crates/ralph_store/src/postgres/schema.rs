//! The tables in PostgreSQL, as steps from each version to the next.

/// The schema that is ours alone in the user's database.
pub(super) const SCHEMA: &str = "ralph";

/// One step from a version to the next, as SQL. A step that was released never changes.
pub(super) const MIGRATIONS: &[&str] = &[FIRST, SECOND, THIRD, FOURTH];

/// The tables that are emptied with the runs, in the order in which they are locked.
pub(super) const RUN_TABLES: &str =
    "run, session, record, usage, approval, message, text_run, text, text_span";

/// All times are nanoseconds since 1970 (in the text index seconds, and milliseconds for the last record), all money
/// millionths of a dollar. Text is compared by its bytes, as everywhere else.
const FIRST: &str = r#"
    CREATE TABLE meta(key text PRIMARY KEY, value bigint NOT NULL);
    INSERT INTO meta VALUES('next_text', 1);
    CREATE TABLE kind(id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);
    CREATE SEQUENCE run_number;
    CREATE TABLE run(
        number bigint PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        epoch text NOT NULL,
        workspace text COLLATE "C" NOT NULL,
        backend text COLLATE "C" NOT NULL,
        started_at bigint NOT NULL,
        has_ended boolean NOT NULL,
        is_waiting boolean NOT NULL,
        journal_offset bigint NOT NULL,
        head_seq bigint NOT NULL,
        summary text NOT NULL,
        state text NOT NULL
    );
    CREATE INDEX run_by_start ON run(started_at, id);
    CREATE INDEX run_by_workspace ON run(workspace, started_at, id);
    CREATE INDEX run_live ON run(started_at, id) WHERE NOT has_ended;
    CREATE TABLE session(session text COLLATE "C" NOT NULL, run bigint NOT NULL, PRIMARY KEY(session, run));
    CREATE INDEX session_by_run ON session(run);
    CREATE TABLE record(
        run bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        journal_offset bigint NOT NULL,
        length integer NOT NULL,
        kind integer NOT NULL,
        PRIMARY KEY(run, seq)
    );
    CREATE TABLE usage(
        run bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        model text COLLATE "C",
        input bigint NOT NULL,
        cache_read bigint NOT NULL,
        cache_write bigint NOT NULL,
        output bigint NOT NULL,
        reasoning bigint NOT NULL,
        cost bigint,
        is_estimate boolean NOT NULL,
        PRIMARY KEY(run, seq)
    );
    CREATE INDEX usage_by_time ON usage(at);
    CREATE TABLE approval(
        run bigint NOT NULL,
        seq bigint NOT NULL,
        request text NOT NULL,
        kind bigint NOT NULL,
        asked_at bigint NOT NULL,
        data text NOT NULL,
        state bigint NOT NULL,
        closed_at bigint,
        PRIMARY KEY(run, seq)
    );
    CREATE INDEX approval_by_time ON approval(asked_at);
    CREATE INDEX approval_pending ON approval(asked_at) WHERE state = 0;
    CREATE TABLE message(
        run bigint NOT NULL,
        seq bigint NOT NULL,
        id text NOT NULL,
        command_id text NOT NULL,
        at bigint NOT NULL,
        mode text NOT NULL,
        text text NOT NULL,
        state bigint NOT NULL,
        PRIMARY KEY(run, seq)
    );
    CREATE TABLE remembered(
        key text COLLATE "C" PRIMARY KEY,
        digest text NOT NULL,
        status integer NOT NULL,
        body text NOT NULL,
        at bigint NOT NULL
    );
    CREATE INDEX remembered_by_time ON remembered(at);
    CREATE TABLE text_run(
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        epoch text NOT NULL,
        journal_offset bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        calls text NOT NULL
    );
    CREATE TABLE text(
        id bigint PRIMARY KEY,
        run bigint NOT NULL,
        journal_offset bigint NOT NULL,
        at bigint NOT NULL,
        length integer NOT NULL,
        kind smallint NOT NULL,
        words tsvector NOT NULL
    );
    CREATE INDEX text_by_words ON text USING gin(words);
    CREATE INDEX text_by_run ON text(run);
    CREATE TABLE text_span(
        first bigint PRIMARY KEY,
        last bigint NOT NULL,
        min_at bigint NOT NULL,
        max_at bigint NOT NULL
    );
"#;

/// More kinds of records have words: all journals are read again.
const SECOND: &str = "TRUNCATE text_run, text, text_span;";

/// The state directory that the index belongs to, the costs of removed runs, and columns for what is counted. Rows keep an
/// unknown fold version, so that catching up reads the runs again.
const THIRD: &str = r#"
    CREATE TABLE home(id text PRIMARY KEY);
    CREATE TABLE usage_day(
        run text COLLATE "C" NOT NULL,
        at bigint NOT NULL,
        model text COLLATE "C",
        workspace text COLLATE "C" NOT NULL,
        backend text COLLATE "C" NOT NULL,
        messages bigint NOT NULL,
        input bigint NOT NULL,
        cache_read bigint NOT NULL,
        cache_write bigint NOT NULL,
        output bigint NOT NULL,
        reasoning bigint NOT NULL,
        cost bigint,
        is_estimate boolean NOT NULL
    );
    CREATE INDEX usage_day_by_run ON usage_day(run);
    CREATE INDEX usage_day_by_time ON usage_day(at);
    ALTER TABLE run ADD COLUMN ended_at bigint;
    ALTER TABLE run ADD COLUMN reason text COLLATE "C" NOT NULL DEFAULT '';
    ALTER TABLE run ADD COLUMN fold_version bigint NOT NULL DEFAULT 0;
    UPDATE run SET reason = 'unknown' WHERE has_ended;
    CREATE INDEX run_by_reason ON run(reason) WHERE has_ended;
    CREATE INDEX message_queued ON message(run) WHERE state = 0;
"#;

/// Records with their lines, so that search needs no journal. Words are found by record number instead of a place in a
/// journal, and belong to a generation of the run: it changes when the rows of a run are replaced. Catching up reads all
/// runs again.
const FOURTH: &str = r#"
    DROP TABLE record, kind, text, text_run;
    TRUNCATE text_span;
    ALTER TABLE run ADD COLUMN generation bigint NOT NULL DEFAULT 0;
    UPDATE run SET fold_version = 0;
    CREATE TABLE record(
        run bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        kind text COLLATE "C" NOT NULL,
        line text,
        PRIMARY KEY(run, seq)
    );
    DO $$ BEGIN
        EXECUTE 'ALTER TABLE record ALTER COLUMN line SET COMPRESSION lz4';
    EXCEPTION WHEN syntax_error OR feature_not_supported OR invalid_parameter_value THEN
        NULL;
    END $$;
    CREATE TABLE text_run(
        run bigint PRIMARY KEY,
        generation bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        calls text NOT NULL
    );
    CREATE TABLE text(
        id bigint PRIMARY KEY,
        run bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        length integer NOT NULL,
        kind smallint NOT NULL,
        words tsvector NOT NULL
    );
    CREATE INDEX text_by_words ON text USING gin(words);
    CREATE INDEX text_by_run ON text(run);
"#;
