use regex::Regex;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Where something was captured: what of it may show up in the output, and what stands for it.
#[derive(Debug, Default)]
pub struct Place {
    replacements: Vec<(String, String)>,
}

static PORT: LazyLock<Regex> = LazyLock::new(|| super::identity::pattern(r"127\.0\.0\.1:\d{2,5}"));
/// As Node prints a socket.
static SOCKET_PORT: LazyLock<Regex> =
    LazyLock::new(|| super::identity::pattern(r"(localPort|remotePort): \d+"));
static SOCKET: LazyLock<Regex> = LazyLock::new(|| super::identity::pattern(r"/tmp/cc-socks/\d+\.sock"));
static SCRATCH: LazyLock<Regex> = LazyLock::new(|| super::identity::pattern(r"/tmp/claude-\d+/"));
static PROCESS: LazyLock<Regex> = LazyLock::new(|| super::identity::pattern(r#""pid":\d+"#));

impl Place {
    /// A path and what stands for it. Longer paths are replaced first, whatever the order of the calls.
    #[must_use]
    pub fn with_path(mut self, path: &Path, stands_for: &str) -> Self {
        // The CLI may have resolved links on the way there (macOS: /tmp).
        let resolved: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        for path in [path.to_owned(), resolved] {
            let text = path.display().to_string();
            // The CLI names a project's directory after its path, every other character replaced.
            let slug = |text: &str| text.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
            self.replacements.push((slug(&text), slug(stands_for)));
            // opencode tells paths from the root folder.
            let from_root = |path: &str| path.trim_start_matches('/').to_owned();
            self.replacements.push((from_root(&text), from_root(stands_for)));
            self.replacements.push((text, stands_for.to_owned()));
        }
        self.replacements
            .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        self.replacements.dedup();
        self
    }

    pub(super) fn replace(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, stands_for) in &self.replacements {
            text = text.replace(path, stands_for);
        }
        let text = PORT.replace_all(&text, "127.0.0.1:4000");
        let text = SOCKET_PORT.replace_all(&text, "$1: 4000");
        let text = SOCKET.replace_all(&text, "/run/user/cc-socks/1.sock");
        let text = SCRATCH.replace_all(&text, "/run/user/claude/");
        PROCESS.replace_all(&text, r#""pid":1"#).into_owned()
    }
}
