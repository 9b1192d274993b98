//! Notices, errors, commands, sessions, attempts, unknown records and damage: a label and a text.

use super::super::cell::NoticeCell;
use super::super::sheet::Sheet;

pub(in crate::transcript) fn build(notice: &NoticeCell, sheet: &mut Sheet) {
    super::labeled::push_labeled(sheet, notice.label, notice.role, &notice.text);
}
