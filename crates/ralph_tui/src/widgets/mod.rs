//! Pieces of screens that are used in more than one place.

mod bar;
mod footer;
mod list_scroll;
mod sparkline;
mod text;
mod text_field;

pub(crate) use bar::render_bar;
pub(crate) use footer::render_footer;
pub(crate) use list_scroll::ListScroll;
pub(crate) use sparkline::sparkline;
pub(crate) use text::{pad, put, put_spans, rows_of};
pub(crate) use text_field::{FieldKind, TextField};
