//! What every view of a run shares: the sanitiser, widths, figures, and the words for tool calls and requests.
//!
//! Untrusted text reaches a terminal through [`sanitise()`], [`one_line()`] or [`visible()`], and through nothing else.

mod activity;
mod amounts;
mod call_end;
mod characters;
mod choice;
mod figures;
mod one_line;
mod request_detail;
mod sanitise;
mod state_word;
mod tool_line;
mod visible;

pub use activity::{
    Activity, describe_context, describe_cost, describe_iteration, elapsed_seconds, seconds_between,
};
pub use amounts::{excerpt, parse_count, parse_duration, parse_money, parse_tokens};
pub use call_end::CallEnd;
pub use characters::is_forbidden;
pub use choice::{denial, option_labels};
pub use figures::{format_cents, format_cost, format_duration, format_seconds, format_tokens};
pub use one_line::{cut_line, end_of_path, one_line, width, wrap};
pub use request_detail::{DetailKind, DetailRow, describe_permission, request_detail};
pub use sanitise::{Sanitiser, sanitise};
pub use state_word::state_word;
pub use tool_line::{describe_plan, describe_tool, in_workspace};
pub use visible::{escape_hidden, visible};
