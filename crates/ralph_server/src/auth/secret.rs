//! `new_secret`, `sha256`, `same`: making secrets, and comparing them by digest in constant time.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::error::AuthError;

/// What is kept of a secret.
pub(crate) type Digest = [u8; 32];

/// 256 random bits, as 64 hexadecimal digits.
pub(super) fn new_secret() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::NoRandom(error.to_string()))?;
    Ok(hex(&bytes))
}

pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

pub(crate) fn digest_hex(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // With their lengths, so that no two lists of parts look alike.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// Whether two digests are the same, in a time that does not depend on where they differ.
pub(crate) fn same(one: &Digest, two: &Digest) -> bool {
    one.ct_eq(two).into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn digest_from_hex(text: &str) -> Option<Digest> {
    if !is_secret(text) {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(digest)
}

pub(super) fn is_secret(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::{digest_hex, is_secret, new_secret, same, sha256};

    #[test]
    fn a_secret_has_256_bits_and_no_two_are_the_same() {
        let (one, two) = (new_secret().unwrap(), new_secret().unwrap());
        assert!(is_secret(&one) && is_secret(&two));
        assert!(one != two && !same(&sha256(one.as_bytes()), &sha256(two.as_bytes())));
    }

    #[test]
    fn where_a_part_ends_matters() {
        assert_ne!(digest_hex(&[b"ab", b"c"]), digest_hex(&[b"a", b"bc"]));
    }
}
