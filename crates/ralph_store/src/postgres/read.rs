//! The queries of `PostgresStore`.

use std::collections::HashSet;

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, Error, PgConnection, Postgres, QueryBuilder, Row as _};

use super::decode::{approval, json, message, number, text, usage};
use super::escape::{escape, escape_all};
use super::explain::known;
use crate::columns::{bounded, integer, nanoseconds, run_mark, timestamp};
use crate::decoded::{Decoded, Listed, ListedApproval, partition_decodable};
use crate::fold::{FOLD_VERSION, FoldState};
use crate::query::{ApprovalPage, ApprovalQuery, Page, RunCounts, RunQuery};
use crate::rows::{IndexedRun, MessageRow, Progress};
use crate::store::{MAX_LIMIT, SavedResponse};
use crate::summary::RunSummary;

/// A question that is put together.
struct Question {
    builder: QueryBuilder<Postgres>,
    /// What stands before the next condition.
    link: &'static str,
}

impl Question {
    fn new(sql: &'static str) -> Self {
        Self {
            builder: QueryBuilder::new(sql),
            link: " WHERE ",
        }
    }

    fn condition(&mut self, condition: &'static str) -> &mut QueryBuilder<Postgres> {
        self.builder.push(self.link).push(condition);
        self.link = " AND ";
        &mut self.builder
    }

    fn text(&mut self, condition: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.condition(condition).push_bind(escape(value).into_owned());
        }
    }

    /// `None` for all workspaces.
    fn within(&mut self, condition: &'static str, workspaces: Option<&Vec<String>>) {
        if let Some(workspaces) = workspaces {
            self.condition(condition)
                .push_bind(escape_all(workspaces))
                .push(")");
        }
    }

    fn number(&mut self, condition: &'static str, value: Option<i64>) {
        if let Some(value) = value {
            self.condition(condition).push_bind(value);
        }
    }

    async fn ask<T>(
        mut self,
        connection: &mut PgConnection,
        end: &'static str,
        limit: Option<usize>,
        decode: impl Fn(&PgRow) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.builder.push(end);
        if let Some(limit) = limit {
            self.builder.push_bind(integer(limit as u64));
        }
        let rows = self.builder.build().fetch_all(connection).await?;
        rows.iter().map(decode).collect()
    }
}

/// `summary, id, started_at`.
fn listed(row: &PgRow) -> Result<Listed, Error> {
    Ok(Listed {
        id: text(row, 1)?,
        started_at: row.try_get(2)?,
        summary: known(json(row, 0))?,
    })
}

/// The first column is the run.
fn of_run<T>(
    decode: impl Fn(&PgRow) -> Result<T, Error>,
) -> impl Fn(&PgRow) -> Result<(String, Option<T>), Error> {
    move |row| Ok((text(row, 0)?, known(decode(row))?))
}

pub(super) async fn run(connection: &mut PgConnection, run: &str) -> Result<Option<RunSummary>, Error> {
    let row = sqlx::query("SELECT summary FROM run WHERE id = $1")
        .bind(escape(run))
        .fetch_optional(connection)
        .await?;
    row.map(|row| json(&row, 0)).transpose()
}

/// `place` is where the query's cursor is.
pub(super) async fn runs(
    connection: &mut PgConnection,
    query: &RunQuery,
    place: Option<(i64, &str)>,
) -> Result<Decoded<Page<RunSummary>>, Error> {
    let mut question = Question::new("SELECT summary, id, started_at FROM run");
    question.within("workspace = ANY(", query.within.as_ref());
    question.text("workspace = ", query.workspace.as_deref());
    question.text("backend = ", query.backend.as_deref());
    // Spelt out, so that the index of the live ones can be used.
    match query.has_ended {
        Some(true) => drop(question.condition("has_ended")),
        Some(false) => drop(question.condition("NOT has_ended")),
        None => {}
    }
    if let Some(is_waiting) = query.is_waiting {
        question.condition("is_waiting = ").push_bind(is_waiting);
    }
    if let Some(session) = &query.session {
        question
            .condition("number IN (SELECT run FROM session WHERE session = ")
            .push_bind(escape(session).into_owned())
            .push(")");
    }
    question.number("started_at >= ", query.since.map(nanoseconds));
    question.number("started_at < ", query.until.map(nanoseconds));
    if let Some((at, id)) = place {
        question
            .condition("(started_at, id) < (")
            .push_bind(at)
            .push(", ")
            .push_bind(escape(id).into_owned())
            .push(")");
    }
    let limit = bounded(query.limit);
    let end = " ORDER BY started_at DESC, id DESC LIMIT ";
    let mut rows = question.ask(connection, end, Some(limit + 1), listed).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last().filter(|_| has_more);
    let next = last.map(|last| run_mark(last.started_at, &last.id));
    let (items, incompatible) = partition_decodable(rows.into_iter().map(Listed::into_row));
    Ok((Page { items, next }, incompatible))
}

pub(super) async fn workspaces(connection: &mut PgConnection) -> Result<Vec<String>, Error> {
    let rows =
        sqlx::query("SELECT workspace FROM run UNION SELECT workspace FROM usage_day ORDER BY workspace")
            .fetch_all(connection)
            .await?;
    rows.iter().map(|row| text(row, 0)).collect()
}

/// Those of these runs that are in one of these workspaces.
pub(super) async fn runs_within(
    connection: &mut PgConnection,
    runs: &[String],
    workspaces: &[String],
) -> Result<HashSet<String>, Error> {
    let rows = sqlx::query("SELECT id FROM run WHERE id = ANY($1) AND workspace = ANY($2)")
        .bind(escape_all(runs))
        .bind(escape_all(workspaces))
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| text(row, 0)).collect()
}

pub(super) async fn indexed_runs(connection: &mut PgConnection) -> Result<Vec<IndexedRun>, Error> {
    let rows = sqlx::query("SELECT id, journal_offset, ended_at, fold_version FROM run")
        .fetch_all(connection)
        .await?;
    let read = |row: &PgRow| {
        Ok(IndexedRun {
            run: text(row, 0)?,
            offset: number(row, 1)?,
            ended_at: row.try_get::<Option<i64>, _>(2)?.map(timestamp),
            is_current: row.try_get::<i64, _>(3)? == i64::from(FOLD_VERSION),
        })
    };
    rows.iter().map(read).collect()
}

const APPROVALS: &str = "SELECT run.id, a.seq, a.request, a.kind, a.asked_at, a.data, a.state, a.closed_at
    FROM run JOIN approval a ON a.run = run.number";
const MESSAGES: &str = "SELECT run.id, m.seq, m.id, m.command_id, m.at, m.mode, m.text, m.state
    FROM run JOIN message m ON m.run = run.number";
const USAGE: &str =
    "SELECT seq, at, model, input, cache_read, cache_write, output, reasoning, cost, is_estimate
    FROM usage";

/// All of it of one state of the database.
pub(super) async fn progress(connection: &mut PgConnection, run: &str) -> Result<Option<Progress>, Error> {
    let mut transaction = connection
        .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await?;
    // Rows of another version are replaced as a whole: nothing continues from them. An upgrade of the schema marks all
    // rows like that, whatever version their state has.
    let row = sqlx::query(
        "SELECT number, journal_offset, summary, state FROM run WHERE id = $1 AND fold_version = $2",
    )
    .bind(escape(run))
    .bind(i64::from(FOLD_VERSION))
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else {
        transaction.commit().await?;
        return Ok(None);
    };
    let run: i64 = row.try_get(0)?;
    let state: FoldState = json(&row, 3)?;
    let mut question = Question::new(APPROVALS);
    question.condition("a.state = 0");
    question.number("a.run = ", Some(run));
    let approvals = question
        .ask(&mut transaction, " ORDER BY a.seq", None, approval)
        .await?;
    let usage = match state.unsettled_from() {
        Some(from) => {
            let mut question = Question::new(USAGE);
            question.number("run = ", Some(run));
            question.number("seq >= ", Some(integer(from)));
            question
                .ask(&mut transaction, " ORDER BY seq", None, usage)
                .await?
        }
        None => Vec::new(),
    };
    transaction.commit().await?;
    Ok(Some(Progress {
        offset: number(&row, 1)?,
        summary: json(&row, 2)?,
        state,
        approvals,
        usage,
    }))
}

pub(super) async fn approvals(
    connection: &mut PgConnection,
    query: &ApprovalQuery,
) -> Result<Decoded<ApprovalPage>, Error> {
    let mut question = Question::new(APPROVALS);
    question.within("run.workspace = ANY(", query.within.as_ref());
    if query.is_pending {
        question.condition("a.state = 0");
    }
    question.text("run.id = ", query.run.as_deref());
    if let Some((at, run, seq)) = &query.after {
        let at = nanoseconds(*at);
        // Spelt out, so that the index by time can be used.
        question.number("a.asked_at >= ", Some(at));
        question
            .condition("(a.asked_at, run.id, a.seq) > (")
            .push_bind(at)
            .push(", ")
            .push_bind(escape(run).into_owned())
            .push(", ")
            .push_bind(integer(*seq))
            .push(")");
    }
    let end = " ORDER BY a.asked_at, run.id, a.seq LIMIT ";
    let limit = bounded(query.limit);
    let asked = |row: &PgRow| {
        let (run, approval) = of_run(approval)(row)?;
        Ok(ListedApproval {
            at: row.try_get(4)?,
            run,
            seq: number(row, 1)?,
            approval,
        })
    };
    let rows = question.ask(connection, end, Some(limit + 1), asked).await?;
    Ok(ListedApproval::page(rows, limit))
}

pub(super) async fn messages(
    connection: &mut PgConnection,
    run: &str,
) -> Result<Decoded<Vec<MessageRow>>, Error> {
    let mut question = Question::new(MESSAGES);
    question.text("run.id = ", Some(run));
    let end = " ORDER BY m.seq DESC LIMIT ";
    let rows = question.ask(connection, end, Some(MAX_LIMIT), of_run(message));
    let (mut messages, incompatible) = partition_decodable(rows.await?);
    messages.reverse();
    Ok((messages, incompatible))
}

/// Figures about all runs, each from an index.
pub(super) async fn counts(connection: &mut PgConnection) -> Result<RunCounts, Error> {
    let rows =
        sqlx::query("SELECT reason, count(*) FROM run WHERE has_ended GROUP BY reason ORDER BY reason")
            .fetch_all(&mut *connection)
            .await?;
    let read = |row: &PgRow| Ok((text(row, 0)?, number(row, 1)?));
    let ended = rows.iter().map(read).collect::<Result<_, Error>>()?;
    let row = sqlx::query(
        "SELECT (SELECT count(*) FROM message WHERE state = 0), (SELECT count(*) FROM approval WHERE state = 0)",
    )
    .fetch_one(connection)
    .await?;
    Ok(RunCounts {
        ended,
        queued_messages: number(&row, 0)?,
        pending_requests: number(&row, 1)?,
    })
}

pub(super) async fn response(
    connection: &mut PgConnection,
    key: &str,
) -> Result<Option<SavedResponse>, Error> {
    let row = sqlx::query("SELECT digest, status, body, at FROM remembered WHERE key = $1")
        .bind(escape(key))
        .fetch_optional(connection)
        .await?;
    let read = |row: PgRow| {
        Ok(SavedResponse {
            digest: text(&row, 0)?,
            status: u16::try_from(row.try_get::<i32, _>(1)?).unwrap_or_default(),
            body: text(&row, 2)?,
            at: timestamp(row.try_get(3)?),
        })
    };
    row.map(read).transpose()
}
