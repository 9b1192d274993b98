//! Looking into files of a run's workspace, and nowhere else.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input::{InPath, Parameters};
use super::sandboxed_open::open_in_workspace;
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
    let (run, _) = app.run(&id).await?;
    let read = tokio::task::spawn_blocking(move || read(Path::new(&run.workspace), asked.path)).await;
    match read {
        Ok(Ok(preview)) => Ok(Json(preview)),
        // What is outside and what is not there look alike.
        Ok(Err(error)) => {
            tracing::debug!(%error, "a file cannot be shown");
            let detail = "there is no such file beneath the workspace, or it cannot be shown";
            Err(Problem::new(ProblemCode::FileNotFound, detail))
        }
        Err(error) => Err(Problem::internal("reading a file failed", &error)),
    }
}

fn read(workspace: &Path, path: String) -> io::Result<FilePreview> {
    let file = open_in_workspace(workspace, Path::new(&path))?;
    let size_bytes = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let is_truncated = size_bytes > bytes.len() as u64;
    let (encoding, content) = encode(bytes, is_truncated);
    Ok(FilePreview {
        path,
        size_bytes,
        encoding,
        content,
        is_truncated,
    })
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
