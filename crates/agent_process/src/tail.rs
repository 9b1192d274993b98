//! `Tail`: the last bytes of a stream.

use bytes::Bytes;

#[derive(Debug)]
pub(crate) struct Tail {
    kept: Vec<u8>,
    limit: usize,
    total: u64,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let fresh = bytes
            .get(bytes.len().saturating_sub(self.limit)..)
            .unwrap_or_default();
        // Trim only at twice the limit, so that small pushes do not move the buffer every time.
        if self.kept.len() + fresh.len() > 2 * self.limit {
            let surplus = (self.kept.len() + fresh.len()).saturating_sub(self.limit);
            self.kept.drain(..surplus.min(self.kept.len()));
        }
        self.kept.extend_from_slice(fresh);
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total
    }

    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::copy_from_slice(
            self.kept
                .get(self.kept.len().saturating_sub(self.limit)..)
                .unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn keeps_the_end_however_it_is_cut() {
        let text: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        for piece in [1, 7, 64, 100, 5_000] {
            let mut tail = Tail::new(64);
            for bytes in text.chunks(piece) {
                tail.push(bytes);
                assert!(tail.kept.len() <= 128);
            }
            assert_eq!(tail.bytes(), &text[text.len() - 64..]);
            assert_eq!(tail.total_bytes(), 10_000);
        }
    }
}
