//! The document in the repository is the one that the code makes.

use std::path::Path;

use ralph_server::http::openapi;

#[test]
fn the_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&openapi()).unwrap());
    if std::env::var_os("RALPH_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "docs/openapi.json is not what the code says: run `RALPH_WRITE_OPENAPI=1 cargo test -p ralph_server --test http written`"
    );
}
