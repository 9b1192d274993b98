//! SHA-256 digests as hexadecimal text, for the trust store.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

pub(super) fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of at most `limit` bytes; `None` if there are more.
pub(super) fn digest_of_reader(mut reader: impl Read, limit: u64) -> io::Result<Option<String>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => return Ok(Some(hex(&hasher.finalize()))),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        total += length as u64;
        if total > limit {
            return Ok(None);
        }
        hasher.update(&buffer[..length]);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{digest_of, digest_of_reader};

    #[test]
    fn digests_match_the_published_vector_and_a_reader_has_a_limit() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest_of(b"abc"), expected);
        let read = |limit| digest_of_reader(&b"abc"[..], limit).unwrap();
        assert_eq!(read(3).as_deref(), Some(expected));
        assert_eq!(read(2), None);
    }
}
