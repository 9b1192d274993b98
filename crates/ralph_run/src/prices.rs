//! `estimate` and `context_window`: prices and context sizes of models, from a public price list in the program.
//!
//! For estimates only: what an agent reports itself comes first. `scripts/update-prices` writes the list.

use std::collections::HashMap;
use std::sync::LazyLock;

use agent_api::{MicroUsd, Tokens};
use serde::Deserialize;

/// Prices are per this many tokens.
const MILLION: u128 = 1_000_000;

/// What `[1m]` behind a model's name stands for.
const LONG_CONTEXT: (&str, u64) = ("[1m]", 1_000_000);

/// Where the price list comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PriceSource {
    pub package: String,
    pub version: String,
    pub date: String,
}

#[derive(Debug, Deserialize)]
struct PriceList {
    source: PriceSource,
    models: HashMap<String, Price>,
}

/// In micro-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Price {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    context_window: Option<u64>,
}

/// `None` cannot happen with the list that the tests have seen, and would only cost the estimates.
static PRICES: LazyLock<Option<PriceList>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/prices.json")).ok());

/// Where the price list comes from, and of when it is.
pub fn price_source() -> Option<&'static PriceSource> {
    PRICES.as_ref().map(|list| &list.source)
}

/// What a model asks for that many tokens, by the price list: an estimate. `None` if it does not know the model.
///
/// A name may carry a provider, a date or an option, as in `us.provider.model-4-5-20250929-v1:0` or `model-4-8[1m]`.
/// Another version of a known model is an unknown model.
pub fn estimate(model: &str, tokens: &Tokens) -> Option<MicroUsd> {
    let price = find(model)?;
    let parts = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_read, price.cache_read),
        (tokens.cache_write, price.cache_write),
    ];
    let sum: u128 = parts
        .into_iter()
        .map(|(count, price)| u128::from(count) * u128::from(price))
        .sum();
    let rounded = sum.saturating_add(MILLION / 2) / MILLION;
    Some(MicroUsd::new(u64::try_from(rounded).unwrap_or(u64::MAX)))
}

/// How many tokens a model can hold, by the price list.
pub fn context_window(model: &str) -> Option<u64> {
    let listed = find(model)?.context_window;
    let (mark, long) = LONG_CONTEXT;
    if model.to_ascii_lowercase().ends_with(mark) {
        return Some(listed.map_or(long, |listed| listed.max(long)));
    }
    listed
}

fn find(model: &str) -> Option<&'static Price> {
    let models = &PRICES.as_ref()?.models;
    let lower = model.trim().to_ascii_lowercase();
    let mut whole = without_path(&lower);
    // The longest name in the list wins: first all details are removed from the end, then the provider.
    loop {
        let mut name = whole;
        loop {
            if let Some(price) = models.get(name) {
                return Some(price);
            }
            match without_last_detail(name) {
                Some(shorter) => name = shorter,
                None => break,
            }
        }
        whole = without_provider(whole)?;
    }
}

/// `router/provider/model-x` is `model-x`.
fn without_path(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// `us.provider.model-x` is `provider.model-x` and then `model-x`. A dot within a version (`model-5.2`) separates no
/// provider: the text before it is not a word of letters only.
fn without_provider(name: &str) -> Option<&str> {
    let (provider, name) = name.split_once('.')?;
    provider
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic())
        .then_some(name)
}

/// Words behind a name that change neither price nor size.
const DETAILS: [&str; 10] = [
    "[1m]", "@default", "@latest", "-latest", "-preview", "-minimal", "-low", "-medium", "-high", "-xhigh",
];

fn without_last_detail(name: &str) -> Option<&str> {
    if let Some(name) = DETAILS.iter().find_map(|detail| name.strip_suffix(detail)) {
        return Some(name);
    }
    // `:0`, `:free`, `:thinking`: a variant of the provider's.
    if let Some((name, _)) = name.rsplit_once(':') {
        return Some(name);
    }
    without_date(name).or_else(|| {
        let (name, version) = name.rsplit_once("-v")?;
        is_number(version).then_some(name)
    })
}

/// Takes off `-20250929`, `@20250929` or `-2025-09-29`.
fn without_date(name: &str) -> Option<&str> {
    let (rest, last) = name.rsplit_once(['-', '@'])?;
    if last.len() == 8 && is_number(last) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    let is_date = [(last, 2), (month, 2), (year, 4)]
        .iter()
        .all(|(part, length)| part.len() == *length && is_number(part));
    is_date.then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{PRICES, find};

    #[test]
    fn every_entry_is_sane() {
        let list = PRICES.as_ref().unwrap();
        assert!(list.models.len() > 80, "{} models", list.models.len());
        for (name, price) in &list.models {
            assert!(
                price.input > 0 && price.cache_read > 0 && price.cache_write > 0,
                "{name}"
            );
            assert!(price.output >= price.input, "{name}");
            assert!(price.cache_read <= price.input, "{name}");
            assert!(price.context_window.is_none_or(|size| size >= 8_000), "{name}");
            assert_eq!(find(name), Some(price), "{name}");
        }
    }

    #[test]
    fn every_vendor_of_a_backend_is_in_the_list() {
        let list = PRICES.as_ref().unwrap();
        for vendor in ["claude-", "gpt-", "gemini-", "qwen"] {
            assert!(
                list.models.keys().any(|name| name.starts_with(vendor)),
                "{vendor}"
            );
        }
    }
}
