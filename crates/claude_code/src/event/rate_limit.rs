//! Limits of a subscription.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// Where a subscription stands (`rate_limit_event`). Never sent with an API key.
    pub struct RateLimit {
        /// The figures.
        info: Option<RateLimitInfo> = b"rate_limit_info",
    }
}

wire_struct! {
    /// The figures of a limit.
    pub struct RateLimitInfo {
        /// Whether requests still pass.
        status: Option<RateLimitStatus> = b"status",
        /// When the limit resets, in seconds since 1970.
        resets_at_unix_seconds: Option<u64> = b"resetsAt",
        /// Which limit.
        limit: Option<RateLimitType> = b"rateLimitType",
        /// How much of it is used: 1 is all.
        utilization: Option<f64> = b"utilization",
        /// The threshold that was passed.
        surpassed_threshold: Option<f64> = b"surpassedThreshold",
        /// Whether the overage is being used.
        is_using_overage: Option<bool> = b"isUsingOverage",
        /// Whether an overage would pass.
        overage_status: Option<RateLimitStatus> = b"overageStatus",
        /// Why there is no overage.
        overage_disabled_reason: Option<Text> = b"overageDisabledReason",
        /// All windows, as written.
        unified_windows: Option<RawJson> = b"unifiedWindows",
    }
}

open_enum! {
    /// Whether requests still pass.
    pub enum RateLimitStatus {
        /// They do.
        Allowed = "allowed",
        /// They do, but not for long.
        AllowedWarning = "allowed_warning",
        /// They do not.
        Rejected = "rejected",
    }
}

open_enum! {
    /// Which limit.
    pub enum RateLimitType {
        /// Of five hours.
        FiveHour = "five_hour",
        /// Of a week.
        SevenDay = "seven_day",
        /// Of a week, for the largest models.
        SevenDayOpus = "seven_day_opus",
        /// Of a week, for the middle models.
        SevenDaySonnet = "seven_day_sonnet",
        /// Of the overage.
        Overage = "overage",
    }
}
