//! `Buckets`: a token-bucket rate limit for each peer or token. `Throttle`: a log message that others can cause is
//! written once a minute.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets so many through at once, and then one every so often.
#[derive(Debug, Clone)]
struct Bucket {
    most: u32,
    every: Duration,
    left: u32,
    filled_at: Option<Instant>,
}

impl Bucket {
    fn new(most: u32, every: Duration) -> Self {
        Self {
            most,
            every,
            left: most,
            filled_at: None,
        }
    }

    /// Takes one, or says how long to wait.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        self.fill(now);
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        let since = self
            .filled_at
            .map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        Err(self.every.saturating_sub(since))
    }

    fn fill(&mut self, now: Instant) {
        let Some(filled_at) = self.filled_at else {
            self.filled_at = Some(now);
            return;
        };
        let passed = now.saturating_duration_since(filled_at).as_nanos() / self.every.as_nanos().max(1);
        let new = u32::try_from(passed).unwrap_or(u32::MAX);
        if new > 0 {
            self.left = self.left.saturating_add(new).min(self.most);
            // What is left of the time counts for the next one.
            self.filled_at = filled_at
                .checked_add(self.every.saturating_mul(new))
                .or(Some(now));
        }
    }

    fn is_full(&mut self, now: Instant) -> bool {
        self.fill(now);
        self.left == self.most
    }
}

/// How many keys are remembered at once. There are fewer tokens than that.
const MAX_KEYS: usize = 1024;

/// A bucket for each key.
#[derive(Debug)]
pub(crate) struct Buckets<K> {
    most: u32,
    every: Duration,
    known: HashMap<K, Bucket>,
}

impl<K: Eq + Hash> Buckets<K> {
    pub(crate) fn new(most: u32, every: Duration) -> Self {
        Self {
            most,
            every,
            known: HashMap::new(),
        }
    }

    /// Takes one of this key, or says how long to wait.
    pub(crate) fn take(&mut self, key: K, now: Instant) -> Result<(), Duration> {
        if self.known.len() >= MAX_KEYS && !self.known.contains_key(&key) {
            self.known.retain(|_, bucket| !bucket.is_full(now));
            if self.known.len() >= MAX_KEYS {
                return Err(self.every);
            }
        }
        self.known
            .entry(key)
            .or_insert_with(|| Bucket::new(self.most, self.every))
            .take(now)
    }
}

const THROTTLE_INTERVAL: Duration = Duration::from_secs(60);

/// Lets one through each minute.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Mutex<Option<Instant>>,
}

impl Throttle {
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= THROTTLE_INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, Buckets, MAX_KEYS, Throttle};
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant};

    #[test]
    fn a_bucket_empties_at_once_and_fills_slowly() {
        let start = Instant::now();
        let mut bucket = Bucket::new(2, Duration::from_secs(10));
        assert!(bucket.take(start).is_ok() && bucket.take(start).is_ok());
        assert_eq!(
            bucket.take(start + Duration::from_secs(4)),
            Err(Duration::from_secs(6))
        );
        assert!(bucket.take(start + Duration::from_secs(10)).is_ok());
        assert!(bucket.take(start + Duration::from_secs(19)).is_err());
        assert!(bucket.take(start + Duration::from_secs(20)).is_ok());
    }

    #[test]
    fn a_throttle_lets_one_through_each_minute() {
        let (start, throttle) = (Instant::now(), Throttle::default());
        assert!(throttle.is_due(start) && !throttle.is_due(start));
        assert!(!throttle.is_due(start + Duration::from_secs(59)));
        assert!(throttle.is_due(start + Duration::from_secs(60)));
    }

    #[test]
    fn many_peers_take_no_more_room() {
        let now = Instant::now();
        let mut buckets = Buckets::new(20, Duration::from_secs(3));
        for number in 0..5000_u32 {
            let _ = buckets.take(IpAddr::V4(Ipv4Addr::from(number)), now);
        }
        assert_eq!(buckets.known.len(), MAX_KEYS);
    }

    #[test]
    fn who_takes_all_takes_none_from_others() {
        let now = Instant::now();
        let mut buckets = Buckets::new(1, Duration::from_secs(1));
        assert!(buckets.take("a", now).is_ok() && buckets.take("a", now).is_err());
        assert!(buckets.take("b", now).is_ok());
    }
}
