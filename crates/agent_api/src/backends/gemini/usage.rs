//! `usage`: the tokens of a result as a `Usage`.

use json_lines::Value;

use crate::event::{RunUsage, Tokens, Usage, UsageScope};

/// The figures of a result. They are this run's own, also after a resume; those of a run that failed leave out calls
/// that broke.
pub(super) fn usage(stats: &Value, has_failed: bool) -> Usage {
    let tokens = canonical(stats);
    let models = stats.get("models").map_or(&[][..], Value::members);
    let mut used = models
        .iter()
        .filter(|(_, stats)| canonical(stats) != Tokens::default());
    let model = used.next().map(|(name, _)| name.to_string());
    let run = RunUsage {
        tokens,
        is_partial: has_failed,
        ..RunUsage::default()
    };
    Usage {
        model: model.filter(|_| used.next().is_none()),
        ..Usage::new(UsageScope::Run, tokens, run)
    }
}

/// Input includes what the cache had. Thoughts are neither input nor output, only the total has them.
fn canonical(stats: &Value) -> Tokens {
    let count = |key| stats.count(key).unwrap_or_default();
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    let thoughts = count("total_tokens").saturating_sub(input.saturating_add(output));
    Tokens {
        input: input.saturating_sub(count("cached")),
        cache_read: count("cached"),
        cache_write: 0,
        output: output.saturating_add(thoughts),
        reasoning: thoughts,
    }
}
