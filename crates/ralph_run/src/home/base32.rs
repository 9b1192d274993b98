//! Crockford's base 32, in which ids of runs and tasks are written: no `i`, `l`, `o` and `u`, which look like other
//! characters.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// So many random characters, at most 12.
pub fn random_base32(characters: u32) -> String {
    encode_base32(random_number(), characters)
}

/// Whether an id can have this character.
pub fn is_base32(byte: u8) -> bool {
    DIGITS.contains(&byte)
}

/// The character that is meant: lower case, and not one that looks like it.
pub fn canonical_base32(typed: u8) -> u8 {
    match typed.to_ascii_lowercase() {
        b'o' => b'0',
        b'i' | b'l' => b'1',
        other => other,
    }
}

/// The lowest bits of a number, five for each character.
pub(super) fn encode_base32(number: u64, characters: u32) -> String {
    let digit = |place: u32| {
        let index = usize::try_from(number >> (5 * place) & 31).unwrap_or_default();
        char::from(DIGITS.get(index).copied().unwrap_or(b'0'))
    };
    (0..characters).rev().map(digit).collect()
}

/// Random, but not a secret: the keys of `RandomState` come from the system.
pub(super) fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
