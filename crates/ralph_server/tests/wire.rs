//! The web page's types are the ones that the code makes.

use std::path::Path;

use ralph_server::stream::typescript;

#[test]
fn the_types_of_the_page_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/wire");
    let is_writing = std::env::var_os("RALPH_WRITE_WIRE").is_some();
    for (name, made) in typescript() {
        let path = folder.join(name);
        if is_writing {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &made).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == made,
            "web/src/wire/{name} is not what the code says: run `RALPH_WRITE_WIRE=1 cargo test -p ralph_server --features ts --test wire`"
        );
    }
}
