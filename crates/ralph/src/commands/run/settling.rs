//! What a run that goes on for hours does not need any more.

/// When what the start needed is not needed any more: at the first tick, when the agent is started, so that the start
/// does not count while a lot passes through; then when the agent's own start is over.
const STARTED_TICKS: [u32; 3] = [1, 3, 12];
/// Then now and then, for what a moment of work has brought back: about once a minute.
const AGAIN_TICKS: u32 = 600;

/// Keeps a run small that waits most of the time.
#[derive(Debug, Default)]
pub(super) struct Settling {
    ticks: u32,
}

impl Settling {
    /// Called a few times per second.
    pub(super) fn tick(&mut self) {
        if self.is_due() {
            agent_process::release_code_pages();
        }
    }

    fn is_due(&mut self) -> bool {
        self.ticks = self.ticks % AGAIN_TICKS + 1;
        STARTED_TICKS.contains(&self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::{AGAIN_TICKS, STARTED_TICKS, Settling};

    #[test]
    fn memory_is_given_back_soon_after_the_start_and_then_once_in_a_while() {
        let mut settling = Settling::default();
        let due: Vec<u32> = (1..=AGAIN_TICKS + 20).filter(|_| settling.is_due()).collect();
        let again = STARTED_TICKS.map(|tick| AGAIN_TICKS + tick);
        assert_eq!(due, [STARTED_TICKS, again].concat());
    }
}
