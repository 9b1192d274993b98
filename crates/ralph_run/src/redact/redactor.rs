//! `Redactor`: finds secrets by their first bytes in one pass. Used by `RecordKeeper` and the commands that show text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use regex::Regex;

use super::json_line::{Strings, is_within_name, string_literals};
use super::kind::{KINDS, Kind};
use super::secret::Secret;
use super::shape::begins_word;

/// How many bytes of a secret or prefix are searched for; the rest is compared. Keeps the search small.
pub(super) const SEARCHED_BYTES: usize = 8;

/// A redactor that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// A pattern of the user's is not a regular expression.
    #[error("redaction pattern `{pattern}` is not a regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
    /// There is too much to look for.
    #[error("too many secrets to look for")]
    TooMany,
}

/// Where a text has a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// As in `[redacted:github]`.
    pub kind: String,
    /// Counts from 1.
    pub line: usize,
}

/// Replaces secrets in text and in lines of JSON by `[redacted:…]`: the values it was given, wherever they are, and
/// what looks like a token of a well-known kind.
///
/// It sees one text at a time: a token that is cut between two pieces of a streamed text is in neither of them. Of a token
/// that was shortened only what is left can be judged.
pub struct Redactor {
    pub(super) search: AhoCorasick,
    /// What can begin with each searched text, in the order in which it is tried.
    pub(super) candidates: Vec<Vec<Candidate>>,
    pub(super) patterns: Vec<Regex>,
}

#[derive(Clone)]
pub(super) enum Candidate {
    Kind {
        kind: &'static Kind,
        prefix: &'static str,
    },
    Secret {
        name: String,
        value: Vec<u8>,
        place: Place,
    },
}

/// Where a form of a secret can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    /// It has characters that a JSON string cannot hold as they are.
    TextOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    JsonLine,
}

pub(super) struct Hit<'a> {
    pub(super) range: Range<usize>,
    name: &'a str,
}

impl Redactor {
    /// Finds these secrets, what matches these regular expressions, and every well-known kind of token.
    pub fn new(
        secrets: impl IntoIterator<Item = Secret>,
        patterns: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Self, RedactError> {
        let candidates = candidates(secrets);
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(candidates.keys())
            .map_err(|_| RedactError::TooMany)?;
        let patterns = patterns.into_iter().map(|pattern| compile(pattern.as_ref()));
        Ok(Self {
            search,
            candidates: candidates.into_values().collect(),
            patterns: patterns.collect::<Result<_, _>>()?,
        })
    }

    /// The first secret in a text, for callers that refuse texts with secrets.
    pub fn find_first(&self, text: &str) -> Option<FoundSecret> {
        let mut hits = self.hits(text.as_bytes(), 0, Content::Text);
        for pattern in &self.patterns {
            hits.extend(pattern_hits(pattern, text));
        }
        let first = hits.iter().min_by_key(|hit| hit.range.start)?;
        Some(FoundSecret {
            kind: first.name.to_owned(),
            line: 1 + text[..first.range.start].matches('\n').count(),
        })
    }

    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let hits = self.hits(text.as_bytes(), 0, Content::Text);
        self.replace(text, &hits, Content::Text)
    }

    /// Replaces these hits, then what matches a pattern.
    fn replace<'a>(&self, text: &'a str, hits: &[Hit<'_>], content: Content) -> Cow<'a, str> {
        let text = match hits {
            [] => Cow::Borrowed(text),
            _ => Cow::Owned(replaced(text, hits)),
        };
        if self.patterns.is_empty() {
            return text;
        }
        let changed = match content {
            Content::Text => self.replace_patterns(&text),
            Content::JsonLine => self.replace_patterns_in_strings(&text),
        };
        changed.map_or(text, Cow::Owned)
    }

    /// The text without what matches a pattern; `None` if nothing does.
    fn replace_patterns(&self, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        for pattern in &self.patterns {
            let text = changed.as_deref().unwrap_or(text);
            let hits = pattern_hits(pattern, text);
            if !hits.is_empty() {
                changed = Some(replaced(text, &hits));
            }
        }
        changed
    }

    /// The same for each string of a line of JSON, as the text it stands for: a user writes patterns for what an agent
    /// says, not for its escaped form.
    fn replace_patterns_in_strings(&self, line: &str) -> Option<String> {
        let mut out = String::new();
        let mut copied = 0;
        for literal in string_literals(line) {
            let Ok(text) = serde_json::from_str::<Cow<'_, str>>(&line[literal.clone()]) else {
                continue;
            };
            let Some(Ok(changed)) = self
                .replace_patterns(&text)
                .map(|text| serde_json::to_string(&text))
            else {
                continue;
            };
            out.push_str(&line[copied..literal.start]);
            out.push_str(&changed);
            copied = literal.end;
        }
        (copied > 0).then(|| {
            out.push_str(&line[copied..]);
            out
        })
    }

    /// Takes the secrets out of a line of JSON, which stays JSON of the same shape: only characters within strings are
    /// replaced, by characters that need no escape. Says whether there were any.
    pub fn redact_json_line(&self, line: &mut Vec<u8>) -> bool {
        self.redact_json_from(0, line)
    }

    /// The same for what begins at `start`, which is not within a string.
    pub(crate) fn redact_json_from(&self, start: usize, line: &mut Vec<u8>) -> bool {
        let searched = line.get(start..).unwrap_or_default();
        let hits = self.hits(searched, 0, Content::JsonLine);
        if hits.is_empty() && self.patterns.is_empty() {
            return false;
        }
        // JSON is UTF-8; in what is not, no place of a hit would hold.
        let Ok(text) = str::from_utf8(searched) else {
            return false;
        };
        let Cow::Owned(text) = self.replace(text, &hits, Content::JsonLine) else {
            return false;
        };
        line.truncate(start);
        line.extend_from_slice(text.as_bytes());
        true
    }

    /// Whether there is surely nothing to take out of a text, nor of JSON that has it.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.patterns.is_empty() && self.hits(text.as_bytes(), 0, Content::Text).is_empty()
    }

    /// The secrets that begin at `start` or later.
    pub(super) fn hits(&self, text: &[u8], start: usize, content: Content) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        let mut strings = Strings::new(text);
        let mut at = start;
        while let Some(found) = self.search.find(Input::new(text).span(at..text.len())) {
            at = found.start() + 1;
            let candidates = &self.candidates[found.pattern().as_usize()];
            let hit = candidates
                .iter()
                .find_map(|candidate| candidate.find(text, found.start(), content));
            let Some(hit) = hit else { continue };
            let is_replaceable = match content {
                Content::Text => true,
                Content::JsonLine => strings.has_character_at(hit.range.start),
            };
            if is_replaceable {
                at = hit.range.end;
                hits.push(hit);
            }
        }
        hits
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Candidate {
    pub(super) fn find(&self, text: &[u8], start: usize, content: Content) -> Option<Hit<'_>> {
        match self {
            Self::Kind { kind, prefix } => {
                if !text[start..].starts_with(prefix.as_bytes()) || !begins_word(text, start) {
                    return None;
                }
                let range = kind.shape.find(text, start..start + prefix.len())?;
                Some(Hit {
                    range,
                    name: kind.name,
                })
            }
            Self::Secret { name, value, place } => {
                let range = start..start + value.len();
                let is_found = text.get(range.clone()) == Some(value);
                let is_excluded = content == Content::JsonLine
                    && (*place == Place::TextOnly || is_within_name(text, value, range.end));
                (is_found && !is_excluded).then_some(Hit { range, name })
            }
        }
    }
}

/// What to try, by the text that is searched for.
fn candidates(secrets: impl IntoIterator<Item = Secret>) -> BTreeMap<Vec<u8>, Vec<Candidate>> {
    let mut searched: BTreeMap<Vec<u8>, Vec<Candidate>> = BTreeMap::new();
    for secret in secrets {
        let forms = secret.json_forms();
        let mut places: BTreeMap<&str, Place> = forms
            .iter()
            .map(|form| (form.as_str(), Place::Anywhere))
            .collect();
        places.entry(secret.value()).or_insert(Place::TextOnly);
        for (form, place) in places {
            let value = form.as_bytes().to_vec();
            let name = secret.name().to_owned();
            searched
                .entry(searched_part(&value))
                .or_default()
                .push(Candidate::Secret { name, value, place });
        }
    }
    for kind in KINDS {
        for prefix in kind.prefixes {
            searched
                .entry(searched_part(prefix.as_bytes()))
                .or_default()
                .push(Candidate::Kind { kind, prefix });
        }
    }
    for candidates in searched.values_mut() {
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.length()));
    }
    // Only the longest text at a place is found, so it has to try what the shorter ones stand for, too.
    let all = searched.clone();
    for (text, candidates) in &mut searched {
        let shorter = (1..text.len())
            .rev()
            .filter_map(|length| all.get(&text[..length]));
        candidates.extend(shorter.flatten().cloned());
    }
    searched
}

fn searched_part(text: &[u8]) -> Vec<u8> {
    text[..text.len().min(SEARCHED_BYTES)].to_vec()
}

impl Candidate {
    fn length(&self) -> usize {
        match self {
            Self::Kind { prefix, .. } => prefix.len(),
            Self::Secret { value, .. } => value.len(),
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, RedactError> {
    Regex::new(pattern).map_err(|error| RedactError::Pattern {
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    })
}

fn pattern_hits(pattern: &Regex, text: &str) -> Vec<Hit<'static>> {
    let matches = pattern.find_iter(text).filter(|found| !found.is_empty());
    let hit = |found: regex::Match<'_>| Hit {
        range: found.range(),
        name: "pattern",
    };
    matches.map(hit).collect()
}

fn replaced(text: &str, hits: &[Hit<'_>]) -> String {
    replaced_within(text, 0..text.len(), hits)
}

/// A part of the text, without the secrets that are in it.
pub(super) fn replaced_within(text: &str, part: Range<usize>, hits: &[Hit<'_>]) -> String {
    let mut out = String::with_capacity(part.len() + hits.len() * 16);
    let mut at = part.start;
    for hit in hits.iter().filter(|hit| hit.range.end <= part.end) {
        out.push_str(&text[at..hit.range.start]);
        out.push_str("[redacted:");
        out.push_str(hit.name);
        out.push(']');
        at = hit.range.end;
    }
    out.push_str(&text[at..part.end]);
    out
}
