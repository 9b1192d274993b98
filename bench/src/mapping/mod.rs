//! What the common vocabulary costs on top of reading the vendor's own.

mod rounds;
mod stages;

use std::path::Path;

use crate::arguments::Arguments;
use crate::corpus::{Corpus, FIXTURES};
use stages::Agent;

/// `bench mapping`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["corpus", "megabytes", "rounds"])?;
    let size_bytes = arguments.number("megabytes", 50)? * 1_000_000;
    let round_count = arguments.number("rounds", 15)?;
    let only = arguments.text("corpus", "");
    let claude = Path::new(FIXTURES);
    let other = |agent: &str| claude.with_file_name(agent);
    let corpora = [
        (Agent::Claude, Corpus::of_fixtures(claude, size_bytes)?),
        (Agent::Claude, Corpus::of_long_sessions(claude, size_bytes)?),
        (Agent::Claude, Corpus::of_partial_streams(claude, size_bytes)?),
        (
            Agent::Claude,
            Corpus::of_long_partial_streams(claude, size_bytes)?,
        ),
        (Agent::Claude, Corpus::of_big_lines(size_bytes)),
        (Agent::Claude, Corpus::of_big_answers(size_bytes)),
        (
            Agent::Codex,
            Corpus::of_agent("captured Codex", &other("codex"), size_bytes)?,
        ),
        (
            Agent::CodexAppServer,
            Corpus::of_agent(
                "captured Codex app-server",
                &other("codex_app_server"),
                size_bytes,
            )?,
        ),
        (
            Agent::Gemini,
            Corpus::of_agent("captured Gemini", &other("gemini"), size_bytes)?,
        ),
        (
            Agent::Acp,
            Corpus::of_agent("captured opencode (ACP)", &other("opencode"), size_bytes)?,
        ),
    ];
    println!("\nmapping onto common events (processor time, median of {round_count} interleaved rounds)");
    rounds::print_head();
    for (agent, corpus) in corpora.iter().filter(|(_, corpus)| corpus.name.contains(&only)) {
        rounds::print_row(corpus, &rounds::measure(*agent, corpus, round_count));
    }
    Ok(())
}
