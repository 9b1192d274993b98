//! Notifications: a run tells people that it waits, warns or has ended.
//!
//! [`Notifier`] is a view of the run. Each channel has a thread and a bounded queue of its own, so a channel that hangs
//! delays neither the run nor another channel. `docs/notifications.md` describes what is sent.

mod bell;
mod channel;
mod notification;
mod notifier;
mod program;
mod throttle;
mod webhook;

pub use channel::{Channel, ChannelContext, channels, check};
pub use notification::{Notification, NotificationEvent, RunContext};
pub use notifier::Notifier;
pub use webhook::signature;
