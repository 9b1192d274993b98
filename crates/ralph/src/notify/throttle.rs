//! `Throttle`: at most one notification of a kind every few seconds. Further ones are joined. Each channel has one.

use std::time::{Duration, Instant};

use super::notification::{Notification, NotificationEvent};

/// The time between two notifications about the same event.
pub(super) const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// Holds back what comes too soon. There are four events, so a list is enough.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    sent: Vec<(NotificationEvent, Instant)>,
    held: Vec<Notification>,
}

impl Throttle {
    /// What is to be sent now: this notification, or nothing yet. The end of a run is never held back, and comes before
    /// everything that was.
    pub(super) fn push(&mut self, notification: Notification, now: Instant) -> Vec<Notification> {
        if notification.event == NotificationEvent::Ended {
            let mut all = vec![notification];
            all.extend(self.take_all());
            return all;
        }
        let event = notification.event;
        let is_too_soon = self.due_at(event).is_some_and(|due| now < due);
        let held = self.held.iter().position(|held| held.event == event);
        let notification = match held {
            Some(index) => notification.after(&self.held.remove(index)),
            None => notification,
        };
        if is_too_soon {
            self.held.push(notification);
            return Vec::new();
        }
        vec![notification]
    }

    pub(super) fn note_sent(&mut self, event: NotificationEvent, now: Instant) {
        self.sent.retain(|(sent, _)| *sent != event);
        self.sent.push((event, now));
    }

    /// When something that was held back is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.held.iter().filter_map(|held| self.due_at(held.event)).min()
    }

    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Notification> {
        let (due, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| self.due_at(held.event).is_none_or(|due| due <= now));
        self.held = held;
        due
    }

    pub(super) fn take_all(&mut self) -> Vec<Notification> {
        std::mem::take(&mut self.held)
    }

    fn due_at(&self, event: NotificationEvent) -> Option<Instant> {
        let (_, at) = self.sent.iter().find(|(sent, _)| *sent == event)?;
        Some(*at + MIN_INTERVAL)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use jiff::Timestamp;

    use super::{MIN_INTERVAL, Throttle};
    use crate::notify::{Notification, NotificationEvent};

    fn notification(event: NotificationEvent, message: &str) -> Notification {
        Notification {
            event,
            message: message.to_owned(),
            ..Notification::test(String::new(), Timestamp::UNIX_EPOCH)
        }
    }

    #[test]
    fn what_comes_too_soon_is_joined_and_sent_later() {
        use NotificationEvent::{Waiting, Warning};
        let mut throttle = Throttle::default();
        let start = Instant::now();
        assert_eq!(throttle.push(notification(Warning, "one"), start).len(), 1);
        throttle.note_sent(Warning, start);
        assert_eq!(throttle.push(notification(Warning, "two"), start), []);
        assert_eq!(throttle.push(notification(Warning, "three"), start), []);
        // Another event has its own interval.
        assert_eq!(throttle.push(notification(Waiting, "asks"), start).len(), 1);
        assert_eq!(throttle.take_due(start), []);
        let due = throttle.next_due().unwrap();
        assert_eq!(due, start + MIN_INTERVAL);
        let sent = throttle.take_due(due);
        assert_eq!(sent.len(), 1);
        assert_eq!((sent[0].message.as_str(), sent[0].count), ("two\nthree", 2));
        assert_eq!(sent[0].text(), "two\nthree");
        let joined = notification(Warning, "two").after(&sent[0]);
        assert_eq!(
            (joined.text().as_str(), joined.count),
            ("two\nthree (and 1 more)", 3)
        );
        assert_eq!(throttle.next_due(), None);
    }

    #[test]
    fn the_end_of_a_run_is_not_held_back_and_comes_first() {
        use NotificationEvent::{Ended, Warning};
        let mut throttle = Throttle::default();
        let now = Instant::now();
        throttle.note_sent(Warning, now);
        throttle.note_sent(Ended, now);
        assert_eq!(throttle.push(notification(Warning, "late"), now), []);
        let sent = throttle.push(notification(Ended, "over"), now);
        let messages: Vec<&str> = sent.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, ["over", "late"]);
    }
}
