//! A run's records in a file: written once, in order, never changed, readable whatever happened to the writer.

mod check;
mod damage;
mod encode;
mod epoch;
mod file;
mod follower;
mod page;
mod reader;
mod record_filter;
mod record_head;
mod records;
mod resume;
mod text_once;
mod writer;

pub use damage::{Damage, DamageKind};
pub(crate) use encode::RecordEncoder;
pub use epoch::epoch_of;
#[cfg(test)]
pub(crate) use file::Unsynced;
pub use follower::JournalFollower;
pub use page::{JournalPage, PageQuery, RecordLine};
pub use reader::{JournalItem, JournalLine, JournalMatch, JournalReader};
pub use record_filter::RecordFilter;
pub use record_head::{EventHead, RecordHead};
pub use records::{JournalRecords, read_journal, read_journal_tail};
pub use resume::Resumed;
pub(crate) use text_once::WrittenTexts;
pub use text_once::{may_lack_text, restore_text, restored_kind};
pub use writer::{JournalError, JournalWriter, PendingSync};
