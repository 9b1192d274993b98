//! `epoch_of`: tells one journal from another under the same name, by its first line.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The epoch of the journal whose first line this is, without its newline. The same for every reader, on every
/// machine, in every version: FNV-1a, because it tells journals apart and guards nothing.
#[must_use]
pub fn epoch_of(first_line: &[u8]) -> String {
    let hash = first_line
        .iter()
        .fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::epoch_of;

    #[test]
    fn an_epoch_never_changes_with_the_version() {
        assert_eq!(epoch_of(b""), "cbf29ce484222325");
        assert_eq!(epoch_of(b"foobar"), "85944171f73967e8");
    }
}
