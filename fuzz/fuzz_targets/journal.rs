//! No bytes crash the reader of journals; records come in order and survive being written again; only whole lines
//! count; and cutting what is read changes nothing.
#![no_main]

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use libfuzzer_sys::fuzz_target;
use ralph_run::{JournalRecords, Record};

/// Gives a few bytes at a time.
struct Dribble<'a> {
    journal: Cursor<&'a [u8]>,
    step: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.step.min(buffer.len());
        self.journal.read(&mut buffer[..length])
    }
}

impl Seek for Dribble<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.journal.seek(to)
    }
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (step, from_seq, journal) = input;
    let mut reader = JournalRecords::new(Cursor::new(journal));
    let items: Vec<_> = reader.by_ref().collect();
    let is_whole = !items.iter().any(|item| item.as_ref().is_err_and(|damage| damage.is_final()));
    if is_whole {
        let end = journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        assert_eq!(reader.whole_bytes(), end as u64);
        assert_eq!(reader.torn_bytes(), (journal.len() - end) as u64);
    }

    let records: Vec<&Record> = items.iter().flatten().collect();
    assert!(records.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let mut again = Vec::new();
    for record in &records {
        serde_json::to_writer(&mut again, record).expect("a record is JSON");
        again.push(b'\n');
    }
    let reread: Vec<Record> = JournalRecords::new(Cursor::new(&again)).flatten().collect();
    assert!(records.iter().copied().eq(reread.iter()));

    let dribble = Dribble { journal: Cursor::new(journal), step: usize::from(step).max(1) };
    let slowly = JournalRecords::new(dribble).map(|item| item.map_err(|damage| damage.to_string()));
    assert!(slowly.eq(items.iter().map(|item| match item {
        Ok(record) => Ok(record.clone()),
        Err(damage) => Err(damage.to_string()),
    })));

    let from_seq = u64::from(from_seq);
    let late = JournalRecords::new(Cursor::new(journal)).from_seq(from_seq).flatten();
    assert!(late.into_iter().all(|record| record.seq >= from_seq));
});
