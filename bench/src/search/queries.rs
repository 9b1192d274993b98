//! Searches of all kinds, with words from the texts themselves.

use std::time::Instant;

use jiff::Timestamp;
use ralph_store::{Cursor, SearchMode, SearchPage, SearchQuery};

use super::Random;
use super::journals::{self, Corpus, TOOLS, WORKSPACES, Written};

const PAGE: usize = 50;
/// Frequent in code and in prose.
const COMMON: [&str; 10] = ["the", "a", "self", "of", "let", "fn", "is", "to", "pub", "str"];

struct Measured {
    milliseconds: Vec<f64>,
    hits: usize,
    complete: usize,
}

/// What searches.
pub type Search<'a> = dyn Fn(&SearchQuery) -> Result<SearchPage, String> + 'a;

/// Measures `rounds` searches of each kind, and prints a row for each. `owed_ms` is for those of whole words.
pub fn measure(
    search: &Search<'_>,
    corpus: &Corpus,
    written: &Written,
    rounds: usize,
    owed_ms: f64,
) -> Result<(), String> {
    println!(
        "\n| search | p50 ms | p99 ms | max ms | p99 owed | hits | complete |\n|---|---:|---:|---:|---:|---:|---:|"
    );
    let mut random = Random(42);
    let mut all = Measured::new();
    for kind in KINDS {
        let mut measured = Measured::new();
        for _ in 0..rounds {
            let mut query = (kind.make)(&mut random, corpus, written);
            query.limit = PAGE;
            measured.search(search, &mut query)?;
        }
        measured.print(kind.name, kind.is_owed.then_some(owed_ms));
        if kind.is_owed {
            all.add(measured);
        }
    }
    all.print("all that is owed", Some(owed_ms));
    for (name, make) in SUBSTRINGS {
        let mut measured = Measured::new();
        for _ in 0..rounds.div_ceil(20) {
            let mut query = SearchQuery {
                text: make(&mut random, corpus),
                mode: SearchMode::Substring,
                limit: PAGE,
                ..SearchQuery::default()
            };
            measured.search(search, &mut query)?;
        }
        measured.print(name, Some(500.0));
    }
    Ok(())
}

impl Measured {
    fn new() -> Self {
        Self {
            milliseconds: Vec::new(),
            hits: 0,
            complete: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.milliseconds.extend(other.milliseconds);
        self.hits += other.hits;
        self.complete += other.complete;
    }

    /// Searches, and goes on to the second page.
    fn search(&mut self, search: &Search<'_>, query: &mut SearchQuery) -> Result<(), String> {
        query.cursor = self.page(search, query)?;
        if query.cursor.is_some() && query.mode == SearchMode::Words {
            self.page(search, query)?;
        }
        Ok(())
    }

    fn page(&mut self, search: &Search<'_>, query: &SearchQuery) -> Result<Option<Cursor>, String> {
        let start = Instant::now();
        let page = search(query)?;
        self.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        self.hits += page.hits.len();
        self.complete += usize::from(page.is_complete);
        for hit in &page.hits {
            if hit.marks.is_empty() {
                return Err(format!("`{}` is marked nowhere in `{}`", query.text, hit.snippet));
            }
        }
        Ok(page.next)
    }

    fn print(&mut self, name: &str, owed_ms: Option<f64>) {
        self.milliseconds.sort_by(f64::total_cmp);
        let count = self.milliseconds.len();
        let at = |share: f64| self.milliseconds[((count as f64 * share) as usize).min(count - 1)];
        let (hits, complete) = (self.hits as f64 / count as f64, self.complete * 100 / count);
        let owed = owed_ms.map_or_else(String::new, |owed| format!("≤ {owed}"));
        println!(
            "| {name} | {:.1} | {:.1} | {:.1} | {owed} | {hits:.0} | {complete} % |",
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

struct Kind {
    name: &'static str,
    is_owed: bool,
    make: fn(&mut Random, &Corpus, &Written) -> SearchQuery,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "common word",
        is_owed: true,
        make: |random, _, _| words(common(random)),
    },
    Kind {
        name: "three common words",
        is_owed: true,
        make: |random, _, _| {
            words(format!(
                "{} {} {}",
                common(random),
                common(random),
                common(random)
            ))
        },
    },
    Kind {
        name: "any word",
        is_owed: true,
        make: |random, corpus, _| words(run_of(random, corpus, 1)),
    },
    Kind {
        name: "two words of one line",
        is_owed: true,
        make: |random, corpus, _| words(run_of(random, corpus, 2)),
    },
    Kind {
        name: "rare word",
        is_owed: true,
        make: |random, _, _| words(format!("name{}", random.below(50_000))),
    },
    Kind {
        name: "absent word",
        is_owed: true,
        make: |random, _, _| words(format!("absent{}", random.below(50_000))),
    },
    Kind {
        name: "phrase of three words",
        is_owed: true,
        make: |random, corpus, _| words(format!("\"{}\"", run_of(random, corpus, 3))),
    },
    Kind {
        name: "phrase of common words",
        is_owed: true,
        make: |random, _, _| words(format!("\"{} {}\"", common(random), common(random))),
    },
    Kind {
        name: "common word in a run",
        is_owed: true,
        make: |random, _, written| SearchQuery {
            run: Some(written.runs[random.below(written.runs.len())].0.id.clone()),
            ..words(common(random))
        },
    },
    Kind {
        name: "any word of a tool in a workspace",
        is_owed: true,
        make: |random, corpus, _| SearchQuery {
            tool: Some(TOOLS[random.below(TOOLS.len())].to_owned()),
            workspace: Some(format!("/home/somebody/project-{}", random.below(WORKSPACES))),
            ..words(run_of(random, corpus, 1))
        },
    },
    Kind {
        name: "common word of a kind and a backend, in an hour",
        is_owed: true,
        make: |random, _, written| {
            let (since, until) = hour(random, written);
            SearchQuery {
                kinds: vec!["text_block".to_owned()],
                backend: Some("codex".to_owned()),
                since,
                until,
                ..words(common(random))
            }
        },
    },
    Kind {
        name: "beginning of a word",
        is_owed: false,
        make: |random, corpus, _| {
            let word = run_of(random, corpus, 1);
            let end = word.char_indices().nth(3).map_or(word.len(), |(at, _)| at);
            words(format!("{}*", &word[..end]))
        },
    },
];

type Text = fn(&mut Random, &Corpus) -> String;

const SUBSTRINGS: &[(&str, Text)] = &[
    ("substring, frequent", |random, corpus| run_of(random, corpus, 1)),
    ("substring, rare", |random, _| {
        format!("ame{:05}", random.below(50_000))
    }),
    ("substring, absent", |random, _| {
        format!("Zq/{}", random.below(50_000))
    }),
];

fn words(text: impl Into<String>) -> SearchQuery {
    SearchQuery {
        text: text.into(),
        ..SearchQuery::default()
    }
}

fn common(random: &mut Random) -> &'static str {
    COMMON[random.below(COMMON.len())]
}

/// Words that follow each other somewhere.
fn run_of(random: &mut Random, corpus: &Corpus, count: usize) -> String {
    loop {
        let line = &corpus.lines[random.below(corpus.lines.len())];
        let all: Vec<_> = line
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.len() > 2)
            .collect();
        if all.len() > count {
            let start = random.below(all.len() - count);
            return all[start..start + count].join(" ");
        }
    }
}

fn hour(random: &mut Random, written: &Written) -> (Option<Timestamp>, Option<Timestamp>) {
    let start_ms = journals::end_ms(0);
    let length = journals::end_ms(written.runs.len()).saturating_sub(start_ms);
    let since = start_ms + random.below(length as usize) as u64;
    (
        journals::time(since).parse().ok(),
        journals::time(since + 3_600_000).parse().ok(),
    )
}
