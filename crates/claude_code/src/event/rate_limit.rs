//! `RateLimit`: the limits of a subscription.

use json_lines::{RawJson, Text, open_enum, wire_struct};

wire_struct! {
    /// The state of a subscription's limit (`rate_limit_event`). Never sent with an API key.
    pub struct RateLimit {
        info: Option<RateLimitInfo> = b"rate_limit_info",
    }

    /// The figures of a limit.
    pub struct RateLimitInfo {
        status: Option<RateLimitStatus> = b"status",
        /// When the limit resets, in seconds since 1970.
        resets_at_unix_seconds: Option<u64> = b"resetsAt",
        limit: Option<RateLimitType> = b"rateLimitType",
        /// The used part of the limit, from 0 to 1.
        utilization: Option<f64> = b"utilization",
        /// The threshold that was passed.
        surpassed_threshold: Option<f64> = b"surpassedThreshold",
        is_using_overage: Option<bool> = b"isUsingOverage",
        /// Whether requests beyond the limit are accepted.
        overage_status: Option<RateLimitStatus> = b"overageStatus",
        overage_disabled_reason: Option<Text> = b"overageDisabledReason",
        /// All windows, as written.
        unified_windows: Option<RawJson> = b"unifiedWindows",
    }
}

open_enum! {
    /// Whether requests still pass.
    pub enum RateLimitStatus {
        Allowed = "allowed",
        /// Requests pass, but the limit is near.
        AllowedWarning = "allowed_warning",
        Rejected = "rejected",
    }

    /// Which limit.
    pub enum RateLimitType {
        FiveHour = "five_hour",
        SevenDay = "seven_day",
        /// A weekly limit for Opus models.
        SevenDayOpus = "seven_day_opus",
        /// A weekly limit for Sonnet models.
        SevenDaySonnet = "seven_day_sonnet",
        Overage = "overage",
    }
}
