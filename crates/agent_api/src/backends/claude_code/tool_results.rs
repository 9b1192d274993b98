//! Tool results: status, output, exit code and file changes.

use claude_code::RawJson;
use claude_code::event::{Block, Content, ServerToolResult, ToolResult};
use serde::Deserialize;

use super::mapper::ClaudeMapper;
use crate::bounds::JSON_BYTES;
use crate::emitter::Emitter;
use crate::event::{Body, ChangeKind, FileChange, ItemId, ToolFinished, ToolKind, ToolStatus};

impl ClaudeMapper {
    /// Maps a tool result. `structured` is the `tool_use_result` of the same line.
    pub(super) fn map_tool_result(
        &mut self,
        result: &ToolResult,
        structured: Option<&RawJson>,
        events: &mut Emitter,
    ) {
        let item = ItemId::new(&result.tool_use_id);
        let kind = self.items.end_call(&item);
        let is_denied = self.items.take_denial(&item);
        let edited = self.items.edited.remove(&item);
        let structured = structured.map(StructuredResult::of);
        let output = output_text(&result.content);
        let exit_code = exit_code(kind, result.is_error, &output);
        let status = if is_denied {
            ToolStatus::Denied
        } else if structured.as_ref().is_some_and(StructuredResult::is_interrupted) {
            ToolStatus::Cancelled
        } else if result.is_error {
            ToolStatus::Failed
        } else if structured
            .as_ref()
            .is_some_and(StructuredResult::is_in_background)
        {
            ToolStatus::Background
        } else {
            ToolStatus::Completed
        };
        let change = structured
            .filter(|_| kind == Some(ToolKind::Edit) && !result.is_error)
            .and_then(|structured| structured.file_change());
        let edited = edited.filter(|_| status == ToolStatus::Completed);
        let change = change.or(edited.map(|path| FileChange::new(path, ChangeKind::Modified, None)));
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            output,
            attachments: attachments(&result.content),
            exit_code,
            changes: change.into_iter().collect(),
            ..ToolFinished::new(item, status)
        })));
    }

    /// Maps the result of a tool that runs on the API's side, such as web search.
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
        let status = match is_error {
            true => ToolStatus::Failed,
            false => ToolStatus::Completed,
        };
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            output: titles.join("\n"),
            ..ToolFinished::new(item, status)
        })));
    }
}

fn output_text(content: &Content) -> String {
    match content {
        Content::Other(raw) if raw.as_bytes().len() <= JSON_BYTES => raw.as_str().into_owned(),
        _ => str::to_owned(&content.text()),
    }
}

/// A short description of each image and document.
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
            _ => None,
        })
        .collect()
}

/// Only failed commands report their exit code: `Exit code 3` in the first line.
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

/// The fields of `tool_use_result` that matter here. Read in one pass, because it can also hold whole files.
struct StructuredResult {
    interrupted: Option<RawJson>,
    background_task: Option<RawJson>,
    status: Option<RawJson>,
    kind: Option<RawJson>,
    path: Option<RawJson>,
    patch: Option<RawJson>,
    content: Option<RawJson>,
}

impl StructuredResult {
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

    /// The change that an edit made to its file.
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
            path: str::to_owned(&path),
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
