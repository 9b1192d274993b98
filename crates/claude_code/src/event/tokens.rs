//! Token counts as the vendor reports them.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::money::MicroUsd;

wire_struct! {
    /// The tokens of one API message, or of a turn in `result`.
    ///
    /// In `assistant` events these are the counts at the *start* of the message, repeated for each of its content
    /// blocks: never add them up. [`crate::CostAccount`] knows the rules.
    pub struct Usage {
        @usual { input_tokens "input_tokens", cache_creation_input_tokens "cache_creation_input_tokens", cache_read_input_tokens "cache_read_input_tokens", output_tokens "output_tokens", output_tokens_details "output_tokens_details", server_tool_use "server_tool_use", service_tier "service_tier", cache_creation "cache_creation" }
        /// Tokens of the prompt that were neither read from nor written to the cache.
        input_tokens: Option<u64> = b"input_tokens",
        /// Tokens that the model wrote.
        output_tokens: Option<u64> = b"output_tokens",
        /// Tokens of the prompt written to the cache.
        cache_creation_input_tokens: Option<u64> = b"cache_creation_input_tokens",
        /// Tokens of the prompt read from the cache.
        cache_read_input_tokens: Option<u64> = b"cache_read_input_tokens",
        /// Cache writes by lifetime.
        cache_creation: Option<CacheCreation> = b"cache_creation",
        /// What the output tokens were spent on.
        output_tokens_details: Option<OutputTokensDetails> = b"output_tokens_details",
        /// Tools that ran at the vendor.
        server_tool_use: Option<ServerToolUse> = b"server_tool_use",
        /// How the request was served.
        service_tier: Option<ServiceTier> = b"service_tier",
    }
}

wire_struct! {
    /// Cache writes by lifetime.
    #[derive(Copy)]
    pub struct CacheCreation {
        @usual { ephemeral_5m_input_tokens "ephemeral_5m_input_tokens", ephemeral_1h_input_tokens "ephemeral_1h_input_tokens" }
        /// Kept for five minutes.
        ephemeral_5m_input_tokens: Option<u64> = b"ephemeral_5m_input_tokens",
        /// Kept for an hour.
        ephemeral_1h_input_tokens: Option<u64> = b"ephemeral_1h_input_tokens",
    }
}

wire_struct! {
    /// What the output tokens were spent on.
    #[derive(Copy)]
    pub struct OutputTokensDetails {
        /// Spent on thinking.
        thinking_tokens: Option<u64> = b"thinking_tokens",
    }
}

wire_struct! {
    /// Tools that ran at the vendor.
    #[derive(Copy)]
    pub struct ServerToolUse {
        /// Searches of the web.
        web_search_requests: Option<u64> = b"web_search_requests",
        /// Pages fetched.
        web_fetch_requests: Option<u64> = b"web_fetch_requests",
    }
}

open_enum! {
    /// How a request was served.
    pub enum ServiceTier {
        /// The normal one.
        Standard = "standard",
        /// Before others.
        Priority = "priority",
        /// When there was room.
        Batch = "batch",
    }
}

wire_struct! {
    /// What one model was used for, and what it cost.
    pub struct ModelUsage {
        @usual { input_tokens "inputTokens", output_tokens "outputTokens", cache_read_input_tokens "cacheReadInputTokens", cache_creation_input_tokens "cacheCreationInputTokens", web_search_requests "webSearchRequests", cost "costUSD", context_window "contextWindow", max_output_tokens "maxOutputTokens", thinking_tokens "thinkingTokens", rest "cacheCreationEphemeral5mInputTokens", rest "cacheCreationEphemeral1hInputTokens", rest "canonicalModel", rest "provider", rest "costBasis" }
        /// Tokens of the prompts that were neither read from nor written to the cache.
        input_tokens: Option<u64> = b"inputTokens",
        /// Tokens that the model wrote.
        output_tokens: Option<u64> = b"outputTokens",
        /// Tokens read from the cache.
        cache_read_input_tokens: Option<u64> = b"cacheReadInputTokens",
        /// Tokens written to the cache.
        cache_creation_input_tokens: Option<u64> = b"cacheCreationInputTokens",
        /// Tokens spent on thinking.
        thinking_tokens: Option<u64> = b"thinkingTokens",
        /// Searches of the web.
        web_search_requests: Option<u64> = b"webSearchRequests",
        /// What it cost at list prices.
        cost: Option<MicroUsd> = b"costUSD",
        /// How many tokens fit into the model's context.
        context_window: Option<u64> = b"contextWindow",
        /// How many tokens the model may write at once.
        max_output_tokens: Option<u64> = b"maxOutputTokens",
    }
}
