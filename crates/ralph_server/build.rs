//! Makes the files of the web page part of the program, each as it is and compressed.
//!
//! The page is built by `make web`, which needs Node. Without it a plain page takes its place that says so, so that
//! `cargo build` alone always works.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let target = PathBuf::from(std::env::var("OUT_DIR")?);
    let web = here.join("../../web");
    let built = web.join("dist");
    let plain = here.join("without_page");
    // Cargo would take a folder that is not there for one that has changed, and build the crate anew each time.
    if web.is_dir() {
        let _ = fs::create_dir(&built);
    }
    let mut said = String::from("cargo::rerun-if-changed=build.rs\n");
    for watched in [&built, &plain].into_iter().filter(|folder| folder.is_dir()) {
        writeln!(said, "cargo::rerun-if-changed={}", watched.display())?;
    }
    std::io::stdout().write_all(said.as_bytes())?;

    let is_built = built.join("index.html").is_file();
    let mut page = Page {
        source: if is_built { built } else { plain },
        target: target.join("page"),
        table: String::new(),
    };
    if page.target.exists() {
        fs::remove_dir_all(&page.target)?;
    }
    page.include(Path::new(""))?;
    fs::write(target.join("page.rs"), format!("&[\n{}]\n", page.table))?;
    Ok(())
}

struct Page {
    source: PathBuf,
    target: PathBuf,
    table: String,
}

impl Page {
    fn include(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        fs::create_dir_all(self.target.join(folder))?;
        let mut entries: Vec<_> = fs::read_dir(self.source.join(folder))?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.include(&name)?;
            } else {
                self.add(&name)?;
            }
        }
        Ok(())
    }

    /// Files are copied, so that one that is built anew meanwhile is not mixed with its old digest.
    fn add(&mut self, name: &Path) -> Result<(), Box<dyn Error>> {
        let content = fs::read(self.source.join(name))?;
        let tag: String = (Sha256::digest(&content).iter().take(16))
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&content)?;
        let compressed = encoder.finish()?;
        let place = self.target.join(name);
        fs::write(&place, &content)?;
        let gzip = if compressed.len() < content.len() {
            let beside = PathBuf::from(format!("{}.gz", place.display()));
            fs::write(&beside, compressed)?;
            format!("Some(include_bytes!({beside:?}))")
        } else {
            "None".to_owned()
        };
        let name = name.to_string_lossy().replace('\\', "/");
        writeln!(
            self.table,
            "File {{ name: {name:?}, tag: {tag:?}, content: include_bytes!({place:?}), gzip: {gzip} }},"
        )?;
        Ok(())
    }
}
