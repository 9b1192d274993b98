//! `Rows`: the rows of several batches by column, so that each table takes one statement however many rows there are.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{Error, PgConnection};

use super::escape::escape;
use crate::columns::{approval_kind, approval_state, integer, message_state, nanoseconds, reason_word};
use crate::fold::tells_of_sessions;
use crate::rows::{ApprovalRow, Batch, MessageRow, RecordRow, UsageRow};

/// How much goes into one statement.
const STATEMENT_RECORDS: usize = 8_192;
const STATEMENT_BYTES: usize = 8 << 20;

/// Rows of several runs, to be put into the tables. The last of the same usage, question or message counts.
#[derive(Default)]
pub(super) struct Rows<'a> {
    runs: BTreeMap<i64, &'a Batch>,
    /// Runs that may have new conversations.
    telling: BTreeSet<i64>,
    records: Vec<(i64, &'a RecordRow)>,
    usage: BTreeMap<(i64, u64), &'a UsageRow>,
    approvals: BTreeMap<(i64, u64), &'a ApprovalRow>,
    messages: BTreeMap<(i64, u64), &'a MessageRow>,
}

impl<'a> Rows<'a> {
    /// Adds what a batch has behind what is known of its run.
    pub(super) fn add(&mut self, number: i64, known: u64, batch: &'a Batch) {
        self.runs.insert(number, batch);
        if tells_of_sessions(batch) {
            self.telling.insert(number);
        }
        self.records
            .extend(batch.records_from(known).map(|record| (number, record)));
        self.usage
            .extend(batch.usage.iter().map(|row| ((number, row.seq), row)));
        self.approvals
            .extend(batch.approvals.iter().map(|row| ((number, row.seq), row)));
        self.messages
            .extend(batch.messages.iter().map(|row| ((number, row.seq), row)));
    }

    /// Puts everything into the tables. Says how many records are new.
    pub(super) async fn put(self, connection: &mut PgConnection) -> Result<u64, Error> {
        if self.runs.is_empty() {
            return Ok(0);
        }
        self.put_runs(connection).await?;
        self.put_sessions(connection).await?;
        self.put_usage(connection).await?;
        self.put_approvals(connection).await?;
        self.put_messages(connection).await?;
        self.put_records(connection).await
    }

    async fn put_runs(&self, connection: &mut PgConnection) -> Result<(), Error> {
        let all = || self.runs.values().map(|batch| &batch.summary);
        let json =
            |value: Result<String, serde_json::Error>| value.map_err(|error| Error::Encode(error.into()));
        let summaries = all().map(|summary| json(serde_json::to_string(summary)));
        let states = self
            .runs
            .values()
            .map(|batch| json(serde_json::to_string(&batch.state)));
        sqlx::query(
            "INSERT INTO run(number, id, epoch, workspace, backend, started_at, has_ended, is_waiting,
                 journal_offset, head_seq, summary, state, ended_at, reason, fold_version)
             SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                 $7::boolean[], $8::boolean[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[],
                 $14::text[], $15::bigint[])
             ON CONFLICT(number) DO UPDATE SET epoch = excluded.epoch, workspace = excluded.workspace,
                 backend = excluded.backend, started_at = excluded.started_at, has_ended = excluded.has_ended,
                 is_waiting = excluded.is_waiting, journal_offset = excluded.journal_offset,
                 head_seq = excluded.head_seq, summary = excluded.summary, state = excluded.state,
                 ended_at = excluded.ended_at, reason = excluded.reason, fold_version = excluded.fold_version",
        )
        .bind(self.runs.keys().copied().collect::<Vec<_>>())
        .bind(texts(all().map(|summary| summary.id.as_str())))
        .bind(texts(all().map(|summary| summary.epoch.as_str())))
        .bind(texts(all().map(|summary| summary.workspace.as_str())))
        .bind(texts(all().map(|summary| summary.backend.as_str())))
        .bind(
            all()
                .map(|summary| nanoseconds(summary.started_at))
                .collect::<Vec<_>>(),
        )
        .bind(
            all()
                .map(|summary| summary.ended_at.is_some())
                .collect::<Vec<_>>(),
        )
        .bind(
            all()
                .map(|summary| summary.activity.needs_person())
                .collect::<Vec<_>>(),
        )
        .bind(
            self.runs
                .values()
                .map(|batch| integer(batch.offset))
                .collect::<Vec<_>>(),
        )
        .bind(all().map(|summary| integer(summary.head_seq)).collect::<Vec<_>>())
        .bind(summaries.collect::<Result<Vec<_>, _>>()?)
        .bind(states.collect::<Result<Vec<_>, _>>()?)
        .bind(
            all()
                .map(|summary| summary.ended_at.map(nanoseconds))
                .collect::<Vec<_>>(),
        )
        .bind(all().map(|summary| escape(&reason_word(summary)).into_owned()).collect::<Vec<_>>())
        .bind(
            self.runs
                .values()
                .map(|batch| i64::from(batch.state.version()))
                .collect::<Vec<_>>(),
        )
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn put_sessions(&self, connection: &mut PgConnection) -> Result<(), Error> {
        let telling = self
            .runs
            .iter()
            .filter(|(number, _)| self.telling.contains(number));
        let sessions = telling.flat_map(|(number, batch)| {
            let ids = batch.summary.session_ids.iter();
            ids.map(|id| (escape(id).into_owned(), *number))
        });
        let (sessions, runs): (Vec<String>, Vec<i64>) = sessions.unzip();
        if sessions.is_empty() {
            return Ok(());
        }
        sqlx::query(
            "INSERT INTO session(session, run) SELECT * FROM unnest($1::text[], $2::bigint[])
             ON CONFLICT DO NOTHING",
        )
        .bind(sessions)
        .bind(runs)
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn put_records(&self, connection: &mut PgConnection) -> Result<u64, Error> {
        let (mut rest, mut count) = (&self.records[..], 0);
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(STATEMENT_RECORDS).take_while(|(_, record)| {
                bytes += record.line.as_ref().map_or(0, |line| line.len());
                bytes <= STATEMENT_BYTES
            });
            let (some, others) = rest.split_at(fits.count().max(1));
            rest = others;
            let all = || some.iter().map(|(_, record)| *record);
            let lines: Vec<Option<&str>> = all().map(|record| record.line.as_deref()).collect();
            let put = sqlx::query(
                "INSERT INTO record(run, seq, at, kind, line)
                 SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
                 ON CONFLICT DO NOTHING",
            )
            .bind(some.iter().map(|(run, _)| *run).collect::<Vec<_>>())
            .bind(all().map(|record| integer(record.seq)).collect::<Vec<_>>())
            .bind(all().map(|record| nanoseconds(record.at)).collect::<Vec<_>>())
            .bind(texts(all().map(|record| record.kind.as_str())))
            .bind(lines)
            .execute(&mut *connection)
            .await?;
            count += put.rows_affected();
        }
        Ok(count)
    }

    async fn put_usage(&self, connection: &mut PgConnection) -> Result<(), Error> {
        if self.usage.is_empty() {
            return Ok(());
        }
        let all = || self.usage.values();
        let tokens = |of: fn(&UsageRow) -> i64| all().map(|row| of(row)).collect::<Vec<_>>();
        let (runs, seqs) = keys(&self.usage);
        let models = all().map(|row| row.model.as_deref().map(|model| escape(model).into_owned()));
        let costs = all().map(|row| row.cost_micro_usd);
        sqlx::query(
            "INSERT INTO usage(run, seq, at, model, input, cache_read, cache_write, output, reasoning, cost,
                 is_estimate)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
                 $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::boolean[])
             ON CONFLICT(run, seq) DO UPDATE SET at = excluded.at, model = excluded.model, input = excluded.input,
                 cache_read = excluded.cache_read, cache_write = excluded.cache_write, output = excluded.output,
                 reasoning = excluded.reasoning, cost = excluded.cost, is_estimate = excluded.is_estimate",
        )
        .bind(runs)
        .bind(seqs)
        .bind(all().map(|row| nanoseconds(row.at)).collect::<Vec<_>>())
        .bind(models.collect::<Vec<_>>())
        .bind(tokens(|row| row.tokens.input))
        .bind(tokens(|row| row.tokens.cache_read))
        .bind(tokens(|row| row.tokens.cache_write))
        .bind(tokens(|row| row.tokens.output))
        .bind(tokens(|row| row.tokens.reasoning))
        .bind(costs.collect::<Vec<_>>())
        .bind(all().map(|row| row.is_estimate).collect::<Vec<_>>())
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn put_approvals(&self, connection: &mut PgConnection) -> Result<(), Error> {
        if self.approvals.is_empty() {
            return Ok(());
        }
        let all = || self.approvals.values();
        let (runs, seqs) = keys(&self.approvals);
        sqlx::query(
            "INSERT INTO approval(run, seq, request, kind, asked_at, data, state, closed_at)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
                 $7::bigint[], $8::bigint[])
             ON CONFLICT(run, seq) DO UPDATE SET request = excluded.request, kind = excluded.kind,
                 asked_at = excluded.asked_at, data = excluded.data, state = excluded.state,
                 closed_at = excluded.closed_at",
        )
        .bind(runs)
        .bind(seqs)
        .bind(texts(all().map(|row| row.request.as_str())))
        .bind(all().map(|row| approval_kind(row.kind)).collect::<Vec<_>>())
        .bind(all().map(|row| nanoseconds(row.asked_at)).collect::<Vec<_>>())
        .bind(all().map(|row| row.data.get().to_owned()).collect::<Vec<_>>())
        .bind(all().map(|row| approval_state(row.state)).collect::<Vec<_>>())
        .bind(all().map(|row| row.closed_at.map(nanoseconds)).collect::<Vec<_>>())
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn put_messages(&self, connection: &mut PgConnection) -> Result<(), Error> {
        if self.messages.is_empty() {
            return Ok(());
        }
        let all = || self.messages.values();
        let (runs, seqs) = keys(&self.messages);
        sqlx::query(
            "INSERT INTO message(run, seq, id, command_id, at, mode, text, state)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[],
                 $7::text[], $8::bigint[])
             ON CONFLICT(run, seq) DO UPDATE SET id = excluded.id, command_id = excluded.command_id,
                 at = excluded.at, mode = excluded.mode, text = excluded.text, state = excluded.state",
        )
        .bind(runs)
        .bind(seqs)
        .bind(texts(all().map(|row| row.id.as_str())))
        .bind(texts(all().map(|row| row.command_id.as_str())))
        .bind(all().map(|row| nanoseconds(row.at)).collect::<Vec<_>>())
        .bind(texts(all().map(|row| row.mode.as_str())))
        .bind(texts(all().map(|row| row.text.as_str())))
        .bind(all().map(|row| message_state(row.state)).collect::<Vec<_>>())
        .execute(connection)
        .await?;
        Ok(())
    }
}

fn texts<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    all.map(|text| escape(text).into_owned()).collect()
}

fn keys<T>(rows: &BTreeMap<(i64, u64), T>) -> (Vec<i64>, Vec<i64>) {
    rows.keys().map(|(run, seq)| (*run, integer(*seq))).unzip()
}

pub(super) fn short(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}
