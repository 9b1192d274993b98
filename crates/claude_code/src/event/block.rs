//! `Block`: one content block of a message.

use bytes::Bytes;
use json_lines::reader::{Cursor, Failed, StringSpan};
use json_lines::{RawJson, Text};

use crate::event::message::Content;

/// One content block. A block of an unknown type, or without the fields that make its type useful, is `Unknown`
/// and complete; its siblings are not affected.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text for a person.
    Text(Text),
    /// The model's thinking.
    Thinking(Thinking),
    /// Thinking that the vendor does not show.
    RedactedThinking {
        /// The encrypted thinking.
        data: Text,
    },
    /// A call of a tool on this machine.
    ToolUse(ToolUse),
    /// A call of a tool that the vendor runs (`server_tool_use`, `mcp_tool_use`).
    ServerToolUse(ToolUse),
    /// The result of a tool.
    ToolResult(ToolResult),
    /// The result of a tool that the vendor ran (`web_search_tool_result` and others).
    ServerToolResult(ServerToolResult),
    /// An image.
    Image {
        /// Its bytes, or where they are.
        source: RawJson,
    },
    /// A document.
    Document {
        /// Its bytes, or where they are.
        source: RawJson,
    },
    /// A tool whose description was loaded on demand.
    ToolReference {
        /// The tool's name.
        tool_name: Text,
    },
    /// Anything else, as written.
    Unknown(RawJson),
}

/// The model's thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    /// Empty if the vendor shows none.
    pub thinking: Text,
    /// The vendor's signature, which shows that the text is unchanged.
    pub signature: Option<Text>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The id that its result refers to.
    pub id: Text,
    /// The tool's name.
    pub name: Text,
    /// The arguments as written; `{}` if absent.
    pub input: RawJson,
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call it answers.
    pub tool_use_id: Text,
    /// Whether the tool failed.
    pub is_error: bool,
    /// A string or a list of blocks.
    pub content: Content,
}

/// The result of a tool that the vendor ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerToolResult {
    /// The block's type, for example `web_search_tool_result`.
    pub type_name: Text,
    /// The call it answers.
    pub tool_use_id: Text,
    /// As written.
    pub content: Option<RawJson>,
}

/// Where a block is. Results do not nest, so reading needs no recursion beyond two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    Message,
    ToolResult,
}

/// The members of a block while its type is not known yet.
#[derive(Default)]
struct Members {
    type_name: Option<StringSpan>,
    id: Option<StringSpan>,
    name: Option<StringSpan>,
    text: Option<StringSpan>,
    thinking: Option<StringSpan>,
    signature: Option<StringSpan>,
    data: Option<StringSpan>,
    tool_use_id: Option<StringSpan>,
    tool_name: Option<StringSpan>,
    is_error: bool,
    input: Option<Place>,
    source: Option<Place>,
    content: Option<Place>,
    parsed_content: Option<Content>,
}

/// Start and end of a value.
type Place = (usize, usize);

fn place(cursor: &mut Cursor<'_>) -> Result<Option<Place>, Failed> {
    let start = cursor.position();
    let is_null = cursor.peek() == Some(b'n');
    cursor.skip()?;
    Ok((!is_null).then_some((start, cursor.position())))
}

impl Members {
    #[inline(always)]
    fn read(&mut self, cursor: &mut Cursor<'_>, nesting: Nesting) -> Result<bool, Failed> {
        cursor.object(|cursor, key| {
            match key {
                b"type" => self.type_name = cursor.string()?,
                b"text" => self.text = cursor.string()?,
                b"id" => self.id = cursor.string()?,
                b"name" => self.name = cursor.string()?,
                b"input" => self.input = place(cursor)?,
                b"tool_use_id" => self.tool_use_id = cursor.string()?,
                b"is_error" => self.is_error = cursor.bool()?.unwrap_or_default(),
                // Parsed now instead of skipped and parsed later: nearly all blocks with content are tool results.
                b"content" if nesting == Nesting::Message => {
                    let start = cursor.position();
                    self.parsed_content = Some(Content::read_nested(cursor, Nesting::ToolResult)?);
                    self.content = Some((start, cursor.position()));
                }
                b"content" => self.content = place(cursor)?,
                b"thinking" => self.thinking = cursor.string()?,
                b"signature" => self.signature = cursor.string()?,
                b"data" => self.data = cursor.string()?,
                b"source" => self.source = place(cursor)?,
                b"tool_name" => self.tool_name = cursor.string()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })
    }

    /// The block, if all its required members are there.
    fn build(&mut self, source: &Bytes, nesting: Nesting) -> Option<Block> {
        let text = |span: Option<StringSpan>| span.map(|span| span.text(source));
        let raw = |place: Option<Place>| {
            place.map(|(start, end)| RawJson::from_validated(source.slice(start..end)))
        };
        let type_name = self.type_name?;
        let decoded;
        let mut name = type_name.written(source);
        if !type_name.is_literal(source) {
            decoded = type_name.text(source);
            name = decoded.as_bytes();
        }
        Some(match name {
            b"text" => Block::Text(text(self.text)?),
            b"tool_use" => Block::ToolUse(ToolUse {
                id: text(self.id)?,
                name: text(self.name)?,
                input: raw(self.input).unwrap_or(RawJson::EMPTY_OBJECT),
            }),
            b"tool_result" if nesting == Nesting::Message => Block::ToolResult(ToolResult {
                tool_use_id: text(self.tool_use_id)?,
                is_error: self.is_error,
                content: self.parsed_content.take().unwrap_or_default(),
            }),
            b"thinking" => Block::Thinking(Thinking {
                thinking: text(self.thinking)?,
                signature: text(self.signature),
            }),
            b"redacted_thinking" => Block::RedactedThinking {
                data: text(self.data)?,
            },
            b"server_tool_use" | b"mcp_tool_use" => Block::ServerToolUse(ToolUse {
                id: text(self.id)?,
                name: text(self.name)?,
                input: raw(self.input).unwrap_or(RawJson::EMPTY_OBJECT),
            }),
            b"image" => Block::Image {
                source: raw(self.source)?,
            },
            b"document" => Block::Document {
                source: raw(self.source)?,
            },
            b"tool_reference" => Block::ToolReference {
                tool_name: text(self.tool_name)?,
            },
            other if other.ends_with(b"_tool_result") => Block::ServerToolResult(ServerToolResult {
                type_name: type_name.text(source),
                tool_use_id: text(self.tool_use_id)?,
                content: raw(self.content),
            }),
            _ => return None,
        })
    }
}

impl Block {
    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The tool call of a tool-use block.
    #[must_use]
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match self {
            Self::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>, nesting: Nesting) -> Result<Self, Failed> {
        let start = cursor.position();
        let mut members = Members::default();
        let is_object = members.read(cursor, nesting)?;
        let built = if is_object {
            members.build(cursor.source(), nesting)
        } else {
            None
        };
        Ok(built.unwrap_or_else(|| Self::Unknown(cursor.raw_since(start))))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Block, Nesting};
    use crate::event::Content;
    use json_lines::reader::Cursor;

    fn read(text: &'static str) -> Block {
        let source = Bytes::from_static(text.as_bytes());
        Block::read(&mut Cursor::new(&source), Nesting::Message).unwrap()
    }

    #[test]
    fn type_may_come_last() {
        let block = read(r#"{"input":{"a":[1]},"name":"Bash","id":"toolu_1","type":"tool_use"}"#);
        let tool_use = block.as_tool_use().unwrap();
        assert_eq!(
            (&*tool_use.id, &*tool_use.name, &*tool_use.input.as_str()),
            ("toolu_1", "Bash", r#"{"a":[1]}"#)
        );
    }

    #[test]
    fn a_result_has_a_string_or_blocks() {
        let Block::ToolResult(result) =
            read(r#"{"tool_use_id":"t","type":"tool_result","content":"a\nb","is_error":true}"#)
        else {
            panic!("not a result")
        };
        assert!(result.is_error);
        assert_eq!(result.content, Content::Text("a\nb".into()));

        let Block::ToolResult(result) = read(
            r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image","source":{"data":"=="}},{"type":"hologram"},{"type":"tool_result","tool_use_id":"u","content":[]},{"type":"text","text":"y"}]}"#,
        ) else {
            panic!("not a result")
        };
        assert!(!result.is_error);
        assert_eq!(result.content.text(), "x\ny");
        let blocks = result.content.blocks();
        assert!(matches!(blocks[1], Block::Image { .. }));
        assert!(matches!(&blocks[2], Block::Unknown(raw) if raw.as_str() == r#"{"type":"hologram"}"#));
        assert!(matches!(blocks[3], Block::Unknown(_)), "results do not nest");
    }

    #[test]
    fn a_block_without_its_essentials_is_kept_as_written() {
        for text in [
            r#"{"type":"text","text":17}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"tool_use","id":"t"}"#,
            r#"{"text":"no type"}"#,
            r#""just a string""#,
            "null",
            "[]",
        ] {
            assert!(
                matches!(read(text), Block::Unknown(raw) if raw.as_str() == text),
                "{text}"
            );
        }
    }

    #[test]
    fn vendor_side_tools_are_told_apart() {
        assert!(matches!(
            read(r#"{"type":"server_tool_use","id":"s","name":"web_search"}"#),
            Block::ServerToolUse(_)
        ));
        assert!(matches!(
            read(r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result"}]}"#),
            Block::ServerToolResult(result) if result.content.as_ref().unwrap().as_str() == r#"[{"type":"web_search_result"}]"#
        ));
    }

    #[test]
    fn deep_nesting_of_results_needs_no_stack() {
        let text = format!(
            "{}1{}",
            r#"{"type":"tool_result","content":["#.repeat(100_000),
            "]}".repeat(100_000)
        );
        let source = Bytes::from(text);
        assert!(Block::read(&mut Cursor::new(&source), Nesting::Message).is_err());
    }
}
