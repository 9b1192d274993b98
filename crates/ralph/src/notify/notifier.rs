//! `Notifier`: sends a run's notifications. `NotifySink` is its side in the run; each channel has a thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ralph_run::machine::Signal;
use ralph_run::{Record, RunBody, RunEvent, Sink, Views, Warned, WarningKind};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::bell::Bell;
use super::channel::{Channel, ChannelContext, channels};
use super::notification::{Notification, NotificationEvent, RunContext};
use super::throttle::Throttle;
use crate::console::write_stderr;
use crate::settings::{NotifyOn, NotifySettings};

/// Notifications that wait for a slow channel. Further ones are dropped.
const MAX_WAITING: usize = 64;
/// What the end of a run waits in addition to the timeout of its slowest channel, which still has to stop its program.
const FLUSH_MARGIN: Duration = Duration::from_secs(2);
/// A longer wait than this is announced.
const NOTICE_DELAY: Duration = Duration::from_secs(2);

/// The notifications of a run.
pub struct Notifier {
    /// Closed when the last thread has ended.
    is_done: mpsc::Receiver<()>,
    /// How long the end of a run waits for notifications that are being sent.
    flush_timeout: Duration,
}

impl Notifier {
    /// Adds itself to the views of a run. `None` if no notification is configured.
    ///
    /// # Errors
    /// If a channel is not configured completely.
    pub fn start(
        settings: &NotifySettings,
        context: &ChannelContext,
        views: &mut Views,
    ) -> Result<Option<Self>, String> {
        let mut channels = channels(settings, context)?;
        if !Bell::has_terminal() {
            channels.retain(|channel| channel.name() != "bell");
        }
        if channels.is_empty() {
            return Ok(None);
        }
        let (report, warnings) = mpsc::unbounded_channel();
        let (alive, is_done) = mpsc::channel(1);
        let slowest = channels.iter().map(|channel| channel.timeout()).max();
        let flush_timeout = slowest.unwrap_or_default() + FLUSH_MARGIN;
        let mut senders = Vec::new();
        for channel in channels {
            let (sender, notifications) = sync_channel(MAX_WAITING);
            let worker = Worker {
                channel,
                report: report.clone(),
                has_reported: false,
                throttle: Throttle::default(),
            };
            let alive = alive.clone();
            let name = format!("notify {}", worker.channel.name());
            let spawned = thread::Builder::new().name(name).spawn(move || {
                worker.work(&notifications);
                drop(alive);
            });
            if let Err(error) = spawned {
                return Err(format!("cannot start a thread for notifications: {error}"));
            }
            senders.push(sender);
        }
        views.warnings = Some(warnings);
        views.sinks.push(Box::new(NotifySink {
            senders,
            on: settings.on.clone(),
            run: RunContext::default(),
        }));
        Ok(Some(Self {
            is_done,
            flush_timeout,
        }))
    }

    /// Waits for what is being sent, after the run has ended and its views are gone. A signal ends the wait. Calls
    /// `on_delay` if it takes long enough for a user to wonder.
    pub async fn finish(mut self, signals: &mut mpsc::UnboundedReceiver<Signal>, on_delay: impl FnOnce()) {
        if timeout(NOTICE_DELAY, self.is_done.recv()).await.is_ok() {
            return;
        }
        on_delay();
        let is_sent = tokio::select! {
            biased;
            sent = timeout(self.flush_timeout.saturating_sub(NOTICE_DELAY), self.is_done.recv()) => sent.is_ok(),
            () = ending_signal(signals) => false,
        };
        if !is_sent {
            tracing::warn!("a notification was not sent in time");
        }
    }
}

async fn ending_signal(signals: &mut mpsc::UnboundedReceiver<Signal>) {
    loop {
        match signals.recv().await {
            // There is no run to suspend.
            Some(Signal::Suspend) => {}
            Some(Signal::Interrupt | Signal::Terminate | Signal::HangUp) => return,
            None => std::future::pending().await,
        }
    }
}

struct NotifySink {
    senders: Vec<SyncSender<Notification>>,
    on: Vec<NotifyOn>,
    run: RunContext,
}

impl Sink for NotifySink {
    fn record(&mut self, record: &Arc<Record>, _: usize) {
        if let RunEvent::Run(RunBody::RunStarted(started)) = &record.event {
            self.run = RunContext::from(&**started);
        }
        if let Some(notification) = Notification::of(record, &self.run, &self.on) {
            for sender in &self.senders {
                // A channel with a full queue has failed already, and has reported it.
                let _ = sender.try_send(notification.clone());
            }
        }
    }
}

struct Worker {
    channel: Box<dyn Channel>,
    report: mpsc::UnboundedSender<Warned>,
    has_reported: bool,
    throttle: Throttle,
}

impl Worker {
    /// Until the run drops its end.
    fn work(mut self, notifications: &Receiver<Notification>) {
        loop {
            let next = match self.throttle.next_due() {
                Some(due) => notifications.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => notifications.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(notification) => self.send_or_hold(notification, notifications),
                Err(RecvTimeoutError::Timeout) => {
                    let due = self.throttle.take_due(Instant::now());
                    self.send_all(due);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let held = self.throttle.take_all();
                    self.send_all(held);
                    return;
                }
            }
        }
    }

    /// Takes this notification and those that came while an earlier one was being sent. The end of the run is first,
    /// because time is short then.
    fn send_or_hold(&mut self, notification: Notification, further: &Receiver<Notification>) {
        let mut all = vec![notification];
        all.extend(further.try_iter());
        all.sort_by_key(|notification| notification.event != NotificationEvent::Ended);
        for notification in all {
            let now = self.throttle.push(notification, Instant::now());
            self.send_all(now);
        }
    }

    fn send_all(&mut self, notifications: Vec<Notification>) {
        for notification in &notifications {
            self.send(notification);
        }
    }

    fn send(&mut self, notification: &Notification) {
        let sent = self.channel.send(notification);
        self.throttle.note_sent(notification.event, Instant::now());
        let Err(error) = sent else { return };
        // Once: a channel that fails every time would fill the journal.
        if std::mem::replace(&mut self.has_reported, true) {
            return;
        }
        let message = match self.channel.name() {
            "desktop" => format!("the desktop notification failed: {error}"),
            name => format!("the notification {name} failed: {error}"),
        };
        let warned = Warned::new(WarningKind::NotificationFailed, message.clone());
        // The end is the last record of a run.
        let is_over = notification.event == NotificationEvent::Ended;
        if is_over || self.report.send(warned).is_err() {
            write_stderr(&format!("ralph: {message}\n"));
        }
    }
}
