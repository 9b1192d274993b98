//! What tools gave.

use claude_code::RawJson;
use claude_code::event::{Block, Content, ServerToolResult, ToolResult};
use serde::Deserialize;

use super::mapper::ClaudeMapper;
use super::text::copied;
use crate::bounds::JSON_BYTES;
use crate::emitter::Emitter;
use crate::event::{Body, ChangeKind, FileChange, ItemId, ToolFinished, ToolKind, ToolStatus};

impl ClaudeMapper {
    /// A result, and the structured twin that comes with it.
    pub(super) fn map_tool_result(
        &mut self,
        result: &ToolResult,
        twin: Option<&RawJson>,
        events: &mut Emitter,
    ) {
        let item = ItemId::new(&result.tool_use_id);
        let kind = self.items.end_call(&item);
        let is_denied = self.items.take_denial(&item);
        let twin = twin.map(Twin::of);
        let output = output_text(&result.content);
        let exit_code = exit_code(kind, result.is_error, &output);
        let status = if is_denied {
            ToolStatus::Denied
        } else if twin.as_ref().is_some_and(Twin::is_interrupted) {
            ToolStatus::Cancelled
        } else if result.is_error {
            ToolStatus::Failed
        } else if twin.as_ref().is_some_and(Twin::is_in_background) {
            ToolStatus::Background
        } else {
            ToolStatus::Completed
        };
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            item,
            status,
            output,
            output_bytes: None,
            attachments: attachments(&result.content),
            exit_code,
            changes: twin
                .filter(|_| kind == Some(ToolKind::Edit) && !result.is_error)
                .and_then(|twin| twin.file_change())
                .into_iter()
                .collect(),
        })));
    }

    /// What a tool at the vendor gave.
    pub(super) fn map_server_result(&mut self, result: &ServerToolResult, events: &mut Emitter) {
        let item = ItemId::new(&result.tool_use_id);
        self.items.end_call(&item);
        let content = result.content.as_ref();
        let is_error = content
            .and_then(|content| content.get("type"))
            .and_then(|name| name.text())
            .is_some_and(|name| name.ends_with("_error"));
        let found = content.map(RawJson::elements).unwrap_or_default();
        let titles: Vec<String> = found
            .iter()
            .filter_map(|entry| {
                Some(format!(
                    "{} {}",
                    entry.get("title")?.text()?,
                    entry.get("url")?.text()?
                ))
            })
            .collect();
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            item,
            status: if is_error {
                ToolStatus::Failed
            } else {
                ToolStatus::Completed
            },
            output: titles.join("\n"),
            output_bytes: None,
            attachments: Vec::new(),
            exit_code: None,
            changes: Vec::new(),
        })));
    }
}

fn output_text(content: &Content) -> String {
    match content {
        Content::Other(raw) if raw.as_bytes().len() <= JSON_BYTES => raw.as_str().into_owned(),
        Content::Text(_) | Content::Blocks(_) | Content::Other(_) => copied(&content.text()),
    }
}

/// Pictures and documents, in words.
fn attachments(content: &Content) -> Vec<String> {
    let describe = |source: &RawJson, what: &str| {
        let kind = source.get("media_type").and_then(|kind| kind.text());
        let bytes = source
            .get("data")
            .map_or(0, |data| data.as_bytes().len().saturating_sub(2) / 4 * 3);
        format!("{}, {bytes} bytes", kind.as_deref().unwrap_or(what))
    };
    let blocks = content.blocks().iter();
    blocks
        .filter_map(|block| match block {
            Block::Image { source } => Some(describe(source, "image")),
            Block::Document { source } => Some(describe(source, "document")),
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking { .. }
            | Block::ToolUse(_)
            | Block::ServerToolUse(_)
            | Block::ToolResult(_)
            | Block::ServerToolResult(_)
            | Block::ToolReference { .. }
            | Block::Unknown(_) => None,
        })
        .collect()
}

/// Only failing commands tell their code: `Exit code 3`, in the first line.
fn exit_code(kind: Option<ToolKind>, is_error: bool, output: &str) -> Option<i32> {
    if kind != Some(ToolKind::Execute) || !is_error {
        return None;
    }
    output
        .lines()
        .next()?
        .strip_prefix("Exit code ")?
        .trim()
        .parse()
        .ok()
}

#[derive(Deserialize)]
struct Hunk {
    #[serde(rename = "oldStart")]
    old_start: u64,
    #[serde(rename = "oldLines")]
    old_lines: u64,
    #[serde(rename = "newStart")]
    new_start: u64,
    #[serde(rename = "newLines")]
    new_lines: u64,
    lines: Vec<String>,
}

/// What counts of a result's structured twin. Found in one pass: it also holds whole files.
struct Twin {
    interrupted: Option<RawJson>,
    background_task: Option<RawJson>,
    status: Option<RawJson>,
    kind: Option<RawJson>,
    path: Option<RawJson>,
    patch: Option<RawJson>,
    content: Option<RawJson>,
}

impl Twin {
    fn of(raw: &RawJson) -> Self {
        let [
            interrupted,
            background_task,
            status,
            kind,
            path,
            notebook,
            patch,
            content,
        ] = raw.get_each([
            "interrupted",
            "backgroundTaskId",
            "status",
            "type",
            "filePath",
            "notebook_path",
            "structuredPatch",
            "content",
        ]);
        Self {
            interrupted,
            background_task,
            status,
            kind,
            path: path.or(notebook),
            patch,
            content,
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted
            .as_ref()
            .is_some_and(|value| &*value.as_str() == "true")
    }

    fn is_in_background(&self) -> bool {
        let task = self.background_task.as_ref().and_then(RawJson::text);
        let status = self.status.as_ref().and_then(RawJson::text);
        task.is_some_and(|id| !id.is_empty()) || status.as_deref() == Some("async_launched")
    }

    /// What the twin of an edit says about the file.
    fn file_change(&self) -> Option<FileChange> {
        let path = self.path.as_ref()?.text()?;
        let kind = self.kind.as_ref().and_then(RawJson::text);
        let is_new = kind.as_deref() == Some("create");
        let patch = self.patch.as_ref();
        let small = patch.filter(|patch| patch.as_bytes().len() <= 2 * JSON_BYTES);
        let hunks: Vec<Hunk> = small
            .and_then(|patch| patch.deserialize().ok())
            .unwrap_or_default();
        let (diff, lines) = if hunks.is_empty() && is_new {
            let content = self.content.as_ref();
            content
                .filter(|content| content.as_bytes().len() <= JSON_BYTES)
                .and_then(RawJson::text)
                .map(|content| all_new(&content))
                .unzip()
        } else {
            (!hunks.is_empty()).then(|| unified(&hunks)).unzip()
        };
        Some(FileChange {
            path: copied(&path),
            kind: if is_new {
                ChangeKind::Added
            } else {
                ChangeKind::Modified
            },
            diff,
            lines,
        })
    }
}

fn unified(hunks: &[Hunk]) -> (String, (u32, u32)) {
    let mut diff = String::new();
    let (mut added, mut removed) = (0, 0);
    for hunk in hunks {
        diff.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
        ));
        for line in &hunk.lines {
            added += u32::from(line.starts_with('+'));
            removed += u32::from(line.starts_with('-'));
            diff.push_str(line);
            diff.push('\n');
        }
    }
    (diff, (added, removed))
}

fn all_new(content: &str) -> (String, (u32, u32)) {
    let count = content.lines().count();
    let mut diff = format!("@@ -0,0 +1,{count} @@\n");
    for line in content.lines() {
        diff.push('+');
        diff.push_str(line);
        diff.push('\n');
    }
    (diff, (u32::try_from(count).unwrap_or(u32::MAX), 0))
}
