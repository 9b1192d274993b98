//! `Usage`, `ModelUsage` and `Models`: tokens and cost as the vendor reports them.

use agent_client::{MicroUsd, Tokens};
use json_lines::reader::{Cursor, Failed, Field, Object, SkipUnknown};
use json_lines::{RawJson, Text, open_enum, wire_struct};

wire_struct! {
    /// The tokens of one API message, or of a turn in `result`.
    ///
    /// In `assistant` events these are the counts at the *start* of the message, repeated for each of its content
    /// blocks: never add them up. [`crate::CostAccount`] knows the rules.
    pub struct Usage {
        @usual { input_tokens "input_tokens", cache_creation_input_tokens "cache_creation_input_tokens", cache_read_input_tokens "cache_read_input_tokens", output_tokens "output_tokens", output_tokens_details "output_tokens_details", server_tool_use "server_tool_use", service_tier "service_tier", cache_creation "cache_creation" }
        /// Tokens of the prompt that were neither read from nor written to the cache.
        input_tokens: Option<u64> = b"input_tokens",
        output_tokens: Option<u64> = b"output_tokens",
        /// Tokens of the prompt written to the cache.
        cache_creation_input_tokens: Option<u64> = b"cache_creation_input_tokens",
        /// Tokens of the prompt read from the cache.
        cache_read_input_tokens: Option<u64> = b"cache_read_input_tokens",
        cache_creation: Option<CacheCreation> = b"cache_creation",
        output_tokens_details: Option<OutputTokensDetails> = b"output_tokens_details",
        /// Calls of tools that the vendor runs.
        server_tool_use: Option<ServerToolUse> = b"server_tool_use",
        service_tier: Option<ServiceTier> = b"service_tier",
    }

    /// Cache writes by lifetime.
    #[derive(Copy)]
    pub struct CacheCreation {
        @usual { ephemeral_5m_input_tokens "ephemeral_5m_input_tokens", ephemeral_1h_input_tokens "ephemeral_1h_input_tokens" }
        ephemeral_5m_input_tokens: Option<u64> = b"ephemeral_5m_input_tokens",
        ephemeral_1h_input_tokens: Option<u64> = b"ephemeral_1h_input_tokens",
    }

    /// What the output tokens were spent on.
    #[derive(Copy)]
    pub struct OutputTokensDetails {
        thinking_tokens: Option<u64> = b"thinking_tokens",
    }

    /// Calls of tools that the vendor runs.
    #[derive(Copy)]
    pub struct ServerToolUse {
        web_search_requests: Option<u64> = b"web_search_requests",
        web_fetch_requests: Option<u64> = b"web_fetch_requests",
    }
}

open_enum! {
    /// The service tier of a request.
    pub enum ServiceTier {
        Standard = "standard",
        /// Served before others.
        Priority = "priority",
        /// Served when there was capacity.
        Batch = "batch",
    }
}

wire_struct! {
    /// Tokens and cost of one model.
    pub struct ModelUsage {
        @usual { input_tokens "inputTokens", output_tokens "outputTokens", cache_read_input_tokens "cacheReadInputTokens", cache_creation_input_tokens "cacheCreationInputTokens", web_search_requests "webSearchRequests", cost "costUSD", context_window "contextWindow", max_output_tokens "maxOutputTokens", thinking_tokens "thinkingTokens", unknown "cacheCreationEphemeral5mInputTokens", unknown "cacheCreationEphemeral1hInputTokens", unknown "canonicalModel", unknown "provider", unknown "costBasis" }
        /// Tokens of the prompts that were neither read from nor written to the cache.
        input_tokens: Option<u64> = b"inputTokens",
        output_tokens: Option<u64> = b"outputTokens",
        /// Tokens read from the cache.
        cache_read_input_tokens: Option<u64> = b"cacheReadInputTokens",
        /// Tokens written to the cache.
        cache_creation_input_tokens: Option<u64> = b"cacheCreationInputTokens",
        thinking_tokens: Option<u64> = b"thinkingTokens",
        web_search_requests: Option<u64> = b"webSearchRequests",
        /// At list prices.
        cost: Option<MicroUsd> = b"costUSD",
        /// How many tokens fit into the model's context.
        context_window: Option<u64> = b"contextWindow",
        /// How many tokens the model may write at once.
        max_output_tokens: Option<u64> = b"maxOutputTokens",
    }
}

/// Tokens and cost per model, as in `result.modelUsage`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    raw: Option<RawJson>,
}

impl Models {
    /// Whether the vendor gave the map at all; it may still be empty.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.raw.is_some()
    }

    /// One entry per model, in order. Reads the map again at every call.
    #[must_use]
    pub fn to_vec(&self) -> Vec<(Text, ModelUsage)> {
        let mut models = Vec::new();
        if let Some(raw) = &self.raw {
            let walked = Cursor::new(raw.as_bytes()).object(|cursor, key| {
                let mut usage = ModelUsage::default();
                if usage.read_members(cursor, &mut SkipUnknown)? {
                    models.push((Text::from(String::from_utf8_lossy(key).into_owned()), usage));
                }
                Ok(())
            });
            debug_assert!(walked.is_ok(), "validated with its line");
        }
        models
    }

    /// The map as written, where there is one.
    #[must_use]
    pub fn raw(&self) -> Option<&RawJson> {
        self.raw.as_ref()
    }
}

impl Field for Models {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let is_object = cursor.peek() == Some(b'{');
        self.raw = cursor.raw()?.filter(|_| is_object);
        Ok(())
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
            cache_write: usage.cache_creation_input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            reasoning: usage
                .output_tokens_details
                .and_then(|details| details.thinking_tokens)
                .unwrap_or_default(),
        }
    }
}

impl From<&ModelUsage> for Tokens {
    fn from(usage: &ModelUsage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
            cache_write: usage.cache_creation_input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            reasoning: usage.thinking_tokens.unwrap_or_default(),
        }
    }
}
