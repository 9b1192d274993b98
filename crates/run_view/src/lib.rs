//! What every view of a run shares: the sanitiser, widths, figures, and the words for tool calls and requests.
//!
//! Untrusted text reaches a terminal through [`sanitise()`], [`one_line()`] or [`visible()`], and through nothing else.

mod activity;
mod amounts;
mod arming;
mod call_end;
mod characters;
mod choice;
mod event_text;
mod figures;
mod fold_blanks;
mod grant_choice;
mod one_line;
mod permission_mode;
mod request_detail;
mod request_prompt;
mod run_text;
mod sanitise;
mod shown_errors;
mod state_word;
mod tool_line;
mod visible;

pub use activity::{
    Activity, context_share, cost_of_limit, elapsed_seconds, iteration_of_limit, seconds_between,
};
pub use amounts::{excerpt, parse_count, parse_duration, parse_money, parse_tokens};
pub use arming::armed_at;
pub use call_end::CallEnd;
pub use characters::is_forbidden;
pub use choice::{denial, option_keys, option_labels};
pub use event_text::{
    Answer, EARLIER_CALL, INTERRUPTED, RequestKind, STDERR_LABEL, TERMINAL_ACTOR, TUI_ACTOR, actor_name,
    describe_actor, describe_answer, describe_denial, describe_discard, describe_error, describe_notice,
    describe_permission_request, describe_rate_limit, describe_retry, describe_session, describe_task,
};
pub use figures::{format_cents, format_cost, format_duration, format_seconds, format_tokens};
pub use fold_blanks::fold_blanks;
pub use grant_choice::{GrantChoice, describe_grant};
pub use one_line::{cut_line, end_of_path, one_line, width, wrap};
pub use permission_mode::{permission_choice_words, permission_mode_words};
pub use request_detail::{DetailKind, DetailRow, RequestDetail, describe_permission, request_detail};
pub use request_prompt::{AnswerField, PromptAction, PromptStep, Reading, RequestPrompt, Stage};
pub use run_text::{
    clock_time, describe_attempt_retry, describe_command, describe_continued, describe_cooldown,
    describe_cost, describe_end, describe_exit, describe_forked, describe_iteration, describe_limit_raised,
    describe_suspended, describe_totals, describe_verify, has_more_to_say, message_label, message_state_word,
};
pub use sanitise::{Sanitiser, sanitise};
pub use shown_errors::ShownErrors;
pub use state_word::state_word;
pub use tool_line::{describe_plan, describe_tool, in_workspace};
pub use visible::{escape_hidden, visible};
