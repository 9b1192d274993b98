//! Compression of answers with gzip, which every client takes. Files of the web page are compressed when it is built.
//!
//! Live events are not compressed, because each has to be sent at once. Neither are answers to commands: a new secret is
//! only ever in one of them, and a compressed answer must not have a secret beside text that others choose (BREACH).

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate as _, SizeAbove};

/// Below this, the head of an answer is most of it.
const MIN_BYTES: u16 = 1024;

/// Marks an answer that is sent as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uncompressed;

type ByExtensions = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;
type IsCompressed = tower_http::compression::predicate::And<
    tower_http::compression::predicate::And<DefaultPredicate, SizeAbove>,
    ByExtensions,
>;

/// Compresses what is worth it. The fastest level: most clients are on the same machine.
pub(super) fn layer() -> CompressionLayer<IsCompressed> {
    let is_unmarked: ByExtensions = |_, _, _, extensions| extensions.get::<Uncompressed>().is_none();
    let predicate = DefaultPredicate::new()
        .and(SizeAbove::new(MIN_BYTES))
        .and(is_unmarked);
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(predicate)
}

/// Leaves the answers to commands as they are.
pub(super) async fn mark_commands(request: Request, next: Next) -> Response {
    let is_command = !matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = next.run(request).await;
    if is_command {
        response.extensions_mut().insert(Uncompressed);
    }
    response
}
