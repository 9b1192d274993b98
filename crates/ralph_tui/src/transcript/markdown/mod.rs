//! Markdown on a terminal, also while it is being written.

mod render;
mod stream;
mod table;

pub(super) use stream::MarkdownStream;
