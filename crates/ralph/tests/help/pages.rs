//! Pages under `docs/` that are written from the code.

use std::path::Path;

/// Compares a page with the code; with `UPDATE_DOCS=1` writes it instead.
#[track_caller]
pub(crate) fn assert_page(name: &str, content: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, content).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == content,
        "docs/{name} is not what the code says. Update it: UPDATE_DOCS=1 cargo nextest run -p ralph --test help"
    );
}
