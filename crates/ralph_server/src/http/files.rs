//! Looking into files of a run's workspace, and nowhere else.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// What is shown of a file at most.
const MOST_BYTES: u64 = 1024 * 1024;

/// Which file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FilesParameters {
    /// The file, relative to the workspace.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
}

/// A file as it is now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FilePreview {
    /// The file, as it was asked for.
    path: String,
    /// How large it is.
    size_bytes: u64,
    /// How `content` is to be read.
    encoding: Encoding,
    /// The file, or its start.
    content: String,
    /// Whether `content` is only the start.
    is_truncated: bool,
}

/// How the content of a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(super) enum Encoding {
    /// As it is.
    #[serde(rename = "utf-8")]
    Text,
    /// It is no text.
    #[serde(rename = "base64")]
    Base64,
}

/// Shows a file beneath a run's workspace, a megabyte of it at most.
#[utoipa::path(get, path = "/api/v1/runs/{id}/files", operation_id = "files_preview", tag = "files",
    params(("id" = String, Path, description = "The run."), FilesParameters),
    responses((status = 200, description = "The file.", body = FilePreview)))]
pub(super) async fn preview(
    State(app): State<Arc<App>>,
    InPath(id): InPath<String>,
    Parameters(asked): Parameters<FilesParameters>,
) -> Result<Json<FilePreview>, Problem> {
    let run = app.run(&id).await?;
    let (workspace, path) = (Path::new(&run.workspace), Path::new(&asked.path));
    let start = app
        .runners
        .file(workspace, path, MOST_BYTES)
        .await
        .map_err(|error| {
            // What is outside and what is not there look alike.
            tracing::debug!(%error, "a file cannot be shown");
            let detail = "there is no such file beneath the workspace, or it cannot be shown";
            Problem::new(ProblemCode::FileNotFound, detail)
        })?;
    let is_truncated = start.size_bytes > start.bytes.len() as u64;
    let (encoding, content) = encode(start.bytes, is_truncated);
    Ok(Json(FilePreview {
        path: asked.path,
        size_bytes: start.size_bytes,
        encoding,
        content,
        is_truncated,
    }))
}

fn encode(bytes: Vec<u8>, is_truncated: bool) -> (Encoding, String) {
    if bytes.contains(&0) {
        return (Encoding::Base64, STANDARD.encode(&bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) => (Encoding::Text, text),
        Err(error) => {
            let problem = error.utf8_error();
            let mut bytes = error.into_bytes();
            // Only the last character is cut.
            if is_truncated && problem.error_len().is_none() {
                bytes.truncate(problem.valid_up_to());
                return (Encoding::Text, String::from_utf8(bytes).unwrap_or_default());
            }
            (Encoding::Base64, STANDARD.encode(&bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, encode};

    #[test]
    fn text_stays_text_even_if_its_last_character_is_cut() {
        assert_eq!(encode("aé".into(), false), (Encoding::Text, "aé".to_owned()));
        assert_eq!(encode(b"a\xc3".to_vec(), true), (Encoding::Text, "a".to_owned()));
        assert_eq!(encode(b"a\xc3".to_vec(), false).0, Encoding::Base64);
        assert_eq!(encode(b"\xff\xfea".to_vec(), true).0, Encoding::Base64);
        assert_eq!(
            encode(b"a\0b".to_vec(), false),
            (Encoding::Base64, "YQBi".to_owned())
        );
    }
}
