//! A run's records in a file: written once, in order, never changed, readable whatever happened to the writer.

mod check;
mod damage;
mod encode;
mod file;
mod follower;
mod reader;
mod resume;
mod text_once;
mod writer;

pub use damage::{Damage, DamageKind};
pub(crate) use encode::RecordEncoder;
#[cfg(test)]
pub(crate) use file::Unsynced;
pub use follower::JournalFollower;
pub use reader::{JournalReader, read_journal, read_journal_tail};
pub use resume::Resumed;
pub(crate) use text_once::WrittenTexts;
pub use text_once::{may_lack_text, restore_text, restored_kind};
pub use writer::{JournalError, JournalWriter, PendingSync};
