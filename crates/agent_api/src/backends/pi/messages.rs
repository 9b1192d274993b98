//! `Messages`: texts, thoughts and usage of pi's messages.

use agent_client::MicroUsd;
use json_lines::Value;

use super::tools::Tools;
use crate::emitter::Emitter;
use crate::event::{
    Body, Cost, DiscardReason, ItemDiscarded, ItemId, Part, RunUsage, Tokens, Usage, UsageScope,
};

/// No answer costs more, so a higher figure is wrong. It would spoil the sum.
const MAX_USD: f64 = 1e6;

/// The messages of a run. They have no ids, so they are counted.
#[derive(Debug, Default)]
pub(super) struct Messages {
    count: u32,
    end: End,
    /// The text and thinking items of the last answer.
    last_items: Vec<ItemId>,
    used: Tokens,
    cost: MicroUsd,
    has_cost: bool,
}

/// How the last answer ended.
#[derive(Debug, Default)]
pub(super) struct End {
    pub(super) text: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) error: Option<String>,
}

impl Messages {
    pub(super) fn take_end(&mut self) -> End {
        std::mem::take(&mut self.end)
    }

    pub(super) fn start(&mut self, message: &Value, events: &mut Emitter) {
        self.count += 1;
        events.framing(message.text("role").unwrap_or("message_start"));
    }

    /// A piece of an answer that is being written.
    pub(super) fn update(&mut self, piece: &Value, tools: &mut Tools, events: &mut Emitter) {
        let item = self.item(piece.count("contentIndex").unwrap_or_default());
        let delta = piece.text("delta").unwrap_or_default();
        match piece.text("type").unwrap_or_default() {
            "text_delta" => events.append(&item, Part::Text, delta),
            "thinking_delta" => events.append(&item, Part::Thinking, delta),
            "toolcall_start" => tools.prepare(piece, events),
            "toolcall_delta" => tools.write_input(delta, events),
            other => events.framing(other),
        }
    }

    pub(super) fn end(&mut self, message: &Value, events: &mut Emitter) {
        match message.text("role") {
            Some("user") => events.user_message(self.item(0), texts(message)),
            Some("assistant") => self.end_answer(message, events),
            role => events.framing(role.unwrap_or("message_end")),
        }
    }

    /// The last answer broke and is asked for again.
    pub(super) fn discard_last(&mut self, events: &mut Emitter) {
        for item in std::mem::take(&mut self.last_items) {
            let reason = DiscardReason::Retry;
            events.emit(Body::ItemDiscarded(ItemDiscarded { item, reason }));
        }
    }

    fn end_answer(&mut self, message: &Value, events: &mut Emitter) {
        let stop_reason = message.text("stopReason");
        let is_aborted = matches!(stop_reason, Some("error" | "aborted"));
        self.last_items.clear();
        self.end.text = None;
        for (index, block) in message.list("content").iter().enumerate() {
            let item = self.item(index as u64);
            match block.text("type") {
                Some("text") => {
                    let text = block.text("text").unwrap_or_default().to_owned();
                    self.end.text = Some(text.clone());
                    self.last_items.push(item.clone());
                    events.text_block(item, text, is_aborted);
                }
                Some("thinking") => {
                    self.last_items.push(item.clone());
                    events.thinking_block(item, block.text("thinking").unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
        self.end.stop_reason = stop_reason.map(str::to_owned);
        self.end.error = message.text("errorMessage").map(str::to_owned);
        let usage = self.usage(message, is_aborted);
        events.emit(Body::Usage(Box::new(usage)));
    }

    /// Input does not include what came from the cache; output includes reasoning.
    fn usage(&mut self, message: &Value, is_partial: bool) -> Usage {
        let reported = message.get("usage").unwrap_or(&Value::Null);
        let count = |key| reported.count(key).unwrap_or_default();
        let tokens = Tokens {
            input: count("input"),
            cache_read: count("cacheRead"),
            cache_write: count("cacheWrite"),
            output: count("output"),
            reasoning: count("reasoning"),
        };
        let cost = reported.at(&["cost", "total"]).and_then(Value::as_f64);
        self.used += tokens;
        let cost = cost.filter(|usd| *usd <= MAX_USD).and_then(MicroUsd::from_usd);
        self.cost += cost.unwrap_or_default();
        self.has_cost |= cost.is_some();
        let run = RunUsage {
            tokens: self.used,
            cost: self.has_cost.then(|| Cost::reported(self.cost)),
            is_partial,
            ..RunUsage::default()
        };
        Usage {
            cost: cost.map(Cost::reported),
            model: message.text("model").map(str::to_owned),
            ..Usage::new(UsageScope::Step, tokens, run)
        }
    }

    fn item(&self, index: u64) -> ItemId {
        ItemId::new(&format!("message-{}/{index}", self.count))
    }
}

pub(super) fn texts(from: &Value) -> String {
    let content = from.list("content").iter();
    let texts: Vec<&str> = content.filter_map(|block| block.text("text")).collect();
    texts.join("\n")
}
