//! `JournalReader::page`: records of a run by number and kind, without an index.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use bytes::Bytes;

use super::check::format_version;
use super::reader::{JournalItem, JournalLine, JournalReader, seq_of};
use super::record_filter::RecordFilter;
use super::record_head::{RecordHead, leading_kind};
use crate::record::FORMAT_VERSION;

/// How much of a journal is looked through for one page. Only a filter by kind comes near it.
const MAX_SCANNED_BYTES: u64 = 64 << 20;

/// Which records a page has. Deltas are never among them: the complete text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQuery {
    /// Only records after this one.
    pub after: Option<u64>,
    /// Only records before this one. Without `after` the page has the last ones before it.
    pub before: Option<u64>,
    /// Only these kinds; all if empty.
    pub kinds: Vec<String>,
    /// Only records with this content.
    pub filter: Option<RecordFilter>,
    /// At most this many records.
    pub limit: usize,
    /// At most this many bytes, as they are in the journal; but at least one record.
    pub max_bytes: usize,
}

impl PageQuery {
    /// Whether the page is filled from its end.
    pub fn is_backward(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    fn is_wanted(&self, kind: &str) -> bool {
        kind != "delta"
            && (self.kinds.is_empty() || self.kinds.iter().any(|wanted| wanted == kind))
            && self.filter.is_none_or(|filter| filter.may_accept(kind))
    }
}

/// Records in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalPage {
    /// The records.
    pub records: Vec<RecordLine>,
    /// Where the next page continues: its `after`, or its `before` if the page was filled from its end. None if there
    /// is nothing more.
    pub next: Option<u64>,
}

/// A record as it is in the journal, with all of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLine {
    /// Its number.
    pub seq: u64,
    /// Where it begins.
    pub offset: u64,
    /// The line without its newline.
    pub line: Bytes,
}

impl JournalReader {
    /// Reads a page. A journal in a newer format has no records that we could show.
    pub fn page(&self, query: &PageQuery) -> io::Result<JournalPage> {
        let is_newer = format_version(&self.first_line()?).is_some_and(|version| version > FORMAT_VERSION);
        if query.limit == 0 || is_newer {
            return Ok(JournalPage::default());
        }
        match query.is_backward() {
            true => self.page_backward(query),
            false => self.page_forward(query),
        }
    }

    fn page_forward(&self, query: &PageQuery) -> io::Result<JournalPage> {
        let mut page = Filling::new(query);
        let start = self.find_after(query.after.unwrap_or(0))?;
        let mut reader = self.reopened(start)?;
        let (mut buffer, mut last_seq) = (Vec::new(), query.after.unwrap_or(0));
        let (mut is_over, mut next) = (false, None);
        loop {
            let has_more = reader.read(&mut buffer, |item| {
                let JournalItem::Line(line) = item else { return };
                let Some(seq) = seq_of(line.bytes).filter(|seq| !is_over && *seq > last_seq) else {
                    return;
                };
                if query.before.is_some_and(|before| seq >= before) {
                    is_over = true;
                    return;
                }
                match page.offer(&line) {
                    ControlFlow::Continue(()) => last_seq = seq,
                    ControlFlow::Break(()) => {
                        is_over = true;
                        next = Some(last_seq);
                    }
                }
            })?;
            if is_over || !has_more {
                break;
            }
            if reader.offset() - start > MAX_SCANNED_BYTES {
                next = Some(last_seq);
                break;
            }
        }
        let records = page.records.into();
        Ok(JournalPage { records, next })
    }

    fn page_backward(&self, query: &PageQuery) -> io::Result<JournalPage> {
        let mut page = Filling::new(query);
        let end = self.find_after(query.before.unwrap_or(0).saturating_sub(1))?;
        let (mut first_seq, mut next) = (query.before.unwrap_or(0), None);
        self.read_backward(end, |item| {
            let JournalItem::Line(line) = item else {
                return ControlFlow::Continue(());
            };
            let Some(seq) = seq_of(line.bytes).filter(|seq| *seq < first_seq) else {
                return ControlFlow::Continue(());
            };
            let is_full = page.offer(&line).is_break();
            if is_full || end - line.start > MAX_SCANNED_BYTES {
                next = Some(if is_full { first_seq } else { seq });
                return ControlFlow::Break(());
            }
            first_seq = seq;
            ControlFlow::Continue(())
        })?;
        page.records.make_contiguous().reverse();
        let records = page.records.into();
        Ok(JournalPage { records, next })
    }
}

/// A page that is being filled.
struct Filling<'q> {
    query: &'q PageQuery,
    records: VecDeque<RecordLine>,
    bytes: usize,
}

impl<'q> Filling<'q> {
    fn new(query: &'q PageQuery) -> Self {
        Self {
            query,
            records: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Adds a record if it is wanted. Breaks if it is and does not fit.
    fn offer(&mut self, line: &JournalLine<'_>) -> ControlFlow<()> {
        // Most lines of a long run are deltas: their first bytes identify them.
        if leading_kind(line.bytes).is_some_and(|kind| !self.query.is_wanted(kind)) {
            return ControlFlow::Continue(());
        }
        let is_wanted = |head: &RecordHead<'_>| {
            self.query.is_wanted(&head.event.kind)
                && self.query.filter.is_none_or(|filter| filter.accepts(head))
        };
        let Some(head) = RecordHead::parse(line.bytes).filter(is_wanted) else {
            return ControlFlow::Continue(());
        };
        let is_full =
            self.records.len() >= self.query.limit || self.bytes + line.bytes.len() > self.query.max_bytes;
        if is_full && !self.records.is_empty() {
            return ControlFlow::Break(());
        }
        self.bytes += line.bytes.len() + 1;
        self.records.push_back(RecordLine {
            seq: head.seq,
            offset: line.start,
            line: match line.restored() {
                Cow::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
                Cow::Owned(bytes) => bytes.into(),
            },
        });
        ControlFlow::Continue(())
    }
}
