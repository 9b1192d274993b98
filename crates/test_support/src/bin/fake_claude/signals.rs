//! Signals: one thread takes them all and reacts as the script says.

use crate::player::{End, FOR_EVER, Player};
use crate::report::Report;
use crate::system;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use test_support::script::{Signal, Step, Stream};

/// Cheap to clone: all clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<HashMap<Signal, Watched>>,
    arrived: Condvar,
}

#[derive(Default)]
struct Watched {
    arrivals: u64,
    reaction: Reaction,
}

#[derive(Clone, Default)]
enum Reaction {
    /// What the kernel would have done.
    #[default]
    Default,
    Nothing,
    Play(Vec<Step>),
}

impl Signals {
    /// Watches every signal that the script mentions from the start, so that none is missed between two steps.
    pub(crate) fn watch(steps: &[Step], report: Report, arguments: Vec<String>) -> io::Result<Self> {
        let signals = Self::default();
        for (signal, reaction) in mentioned(steps) {
            signals.state().entry(signal).or_default().reaction = reaction;
        }
        let watched: Vec<Signal> = signals.state().keys().copied().collect();
        if watched.is_empty() {
            return Ok(signals);
        }
        let mut incoming = signal_hook::iterator::Signals::new(watched.iter().copied().map(system::number))?;
        let player = Player::new(signals.clone(), report, arguments);
        let watcher = signals.clone();
        thread::spawn(move || {
            for number in incoming.forever() {
                if let Some(signal) = watched
                    .iter()
                    .copied()
                    .find(|signal| system::number(*signal) == number)
                {
                    watcher.react(signal, &player);
                }
            }
        });
        Ok(signals)
    }

    fn react(&self, signal: Signal, player: &Player) {
        let reaction = {
            let mut state = self.state();
            let watched = state.entry(signal).or_default();
            watched.arrivals += 1;
            watched.reaction.clone()
        };
        self.shared.arrived.notify_all();
        match reaction {
            Reaction::Nothing => {}
            // Fails only for signals that cannot be handled in the first place.
            Reaction::Default => drop(system::die_by(signal)),
            Reaction::Play(steps) => match player.clone().play(&steps) {
                Ok(End::Steps) => {}
                Ok(End::Exit(code)) => std::process::exit(i32::from(code)),
                Err(message) => {
                    crate::output::write(
                        Stream::Stderr,
                        format!("fake_claude: on signal: {message}\n").as_bytes(),
                    );
                    std::process::exit(i32::from(test_support::script::SCRIPT_FAILED));
                }
            },
        }
    }

    pub(crate) fn ignore(&self, signals: &[Signal]) -> Result<(), String> {
        for signal in signals {
            self.state().entry(*signal).or_default().reaction = Reaction::Nothing;
        }
        Ok(())
    }

    pub(crate) fn play_on(&self, signal: Signal, steps: &[Step]) -> Result<(), String> {
        self.state().entry(signal).or_default().reaction = Reaction::Play(steps.to_vec());
        Ok(())
    }

    /// Waits for the first arrival; the next wait for the same signal waits for the next.
    pub(crate) fn wait(&self, signal: Signal) -> Result<(), String> {
        let mut state = self.state();
        loop {
            let watched = state.entry(signal).or_default();
            if watched.arrivals > 0 {
                watched.arrivals -= 1;
                return Ok(());
            }
            let waited = self
                .shared
                .arrived
                .wait_timeout(state, FOR_EVER)
                .unwrap_or_else(PoisonError::into_inner);
            if waited.1.timed_out() {
                return Err(format!("no {signal:?} signal for ten minutes"));
            }
            state = waited.0;
        }
    }

    fn state(&self) -> MutexGuard<'_, HashMap<Signal, Watched>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signals in these steps, with the reaction they have until a step gives them another one.
fn mentioned(steps: &[Step]) -> Vec<(Signal, Reaction)> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            Step::IgnoreSignals { signals } => {
                all.extend(signals.iter().map(|signal| (*signal, Reaction::Default)));
            }
            Step::OnSignal { signal, steps } => {
                all.push((*signal, Reaction::Default));
                all.extend(mentioned(steps));
            }
            Step::WaitForSignal { signal } => all.push((*signal, Reaction::Nothing)),
            Step::Converse { cases } => all.extend(cases.iter().flat_map(|case| mentioned(&case.steps))),
            _ => {}
        }
    }
    // A signal that is waited for must not kill before the wait: that reaction goes last and wins.
    all.sort_by_key(|(_, reaction)| matches!(reaction, Reaction::Nothing));
    all
}
