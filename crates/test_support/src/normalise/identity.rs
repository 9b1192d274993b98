use regex::{Captures, Regex};
use std::collections::HashMap;
use std::sync::LazyLock;

static UUID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}Z"));
/// In the name of a file, such as `…-2026-11-15T18-29-46-287Z.json`.
static FILE_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z"));
/// Milliseconds in an id of a tool call, such as `read_file_1794767358409_0`.
static ID_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"_(1[789]\d{11})_"));
/// An id of opencode, such as `ses_e1b0acff9ffeazUtLy3Z6zCv5a`: a time and random characters.
static SORTED_ID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(ses|msg|prt|per|que)_([0-9a-f]{12}[0-9A-Za-z]{14})\b"));
static RESET: LazyLock<Regex> = LazyLock::new(|| pattern(r#""resetsAt":\d{10}"#));
/// Such as "resets 7:40pm (UTC)".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"resets \d{1,2}(:\d\d)?(am|pm)"));

/// Random ids and times of one capture, counted instead. What was counted already stays.
#[derive(Debug, Default)]
pub(super) struct Identities {
    uuids: HashMap<String, usize>,
    times: HashMap<String, usize>,
    id_times: HashMap<String, usize>,
    sorted_ids: HashMap<String, usize>,
}

const COUNTED_UUID: &str = "00000000-0000-4000-8000-";
const COUNTED_TIME: &str = "2026-01-01T00:";
const COUNTED_ID_TIME: &str = "180000000";
const COUNTED_SORTED_ID: &str = "000000000000";

impl Identities {
    pub(super) fn replace(&mut self, text: &str) -> String {
        let text = UUID.replace_all(text, |found: &Captures<'_>| {
            match found.get(0).map_or("", |id| id.as_str()) {
                counted if counted.starts_with(COUNTED_UUID) => counted.to_owned(),
                new => format!("{COUNTED_UUID}{:012x}", count(&mut self.uuids, new)),
            }
        });
        let text = TIME.replace_all(&text, |found: &Captures<'_>| {
            match found.get(0).map_or("", |time| time.as_str()) {
                counted if counted.starts_with(COUNTED_TIME) => counted.to_owned(),
                new => {
                    let milliseconds = count(&mut self.times, new);
                    let (minutes, rest) = (milliseconds / 60_000 % 60, milliseconds % 60_000);
                    format!(
                        "{COUNTED_TIME}{minutes:02}:{:02}.{:03}Z",
                        rest / 1000,
                        rest % 1000
                    )
                }
            }
        });
        let text = ID_TIME.replace_all(&text, |found: &Captures<'_>| {
            match found.get(1).map_or("", |time| time.as_str()) {
                counted if counted.starts_with(COUNTED_ID_TIME) => format!("_{counted}_"),
                new => format!("_{COUNTED_ID_TIME}{:04}_", count(&mut self.id_times, new)),
            }
        });
        let text = SORTED_ID.replace_all(&text, |found: &Captures<'_>| {
            let group = |number| found.get(number).map_or("", |group| group.as_str());
            match group(2) {
                counted if counted.starts_with(COUNTED_SORTED_ID) => format!("{}_{counted}", group(1)),
                new => format!(
                    "{}_{COUNTED_SORTED_ID}{:014}",
                    group(1),
                    count(&mut self.sorted_ids, new)
                ),
            }
        });
        let text = FILE_TIME.replace_all(&text, "2026-01-01T00-00-00-000Z");
        let text = RESET.replace_all(&text, r#""resetsAt":1800000000"#);
        CLOCK.replace_all(&text, "resets 7:40pm").into_owned()
    }
}

fn count(known: &mut HashMap<String, usize>, new: &str) -> usize {
    let next = known.len() + 1;
    *known.entry(new.to_owned()).or_insert(next)
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and every test uses them"
)]
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}
