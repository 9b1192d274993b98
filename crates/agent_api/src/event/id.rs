//! `ItemId`, `RequestId` and `GrantId`: names of items, requests and grants within a run.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longer ids are replaced by a digest, because ids that are cut could become equal.
const MAX_ID_BYTES: usize = 256;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the agent's own id. An id over 256 bytes becomes a digest, which is the same in every release:
            /// ids are kept in journals.
            #[must_use]
            pub fn new(id: &str) -> Self {
                Self(bounded(id))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, formatter)
            }
        }
    };
}

id! {
    /// Names an item of a run: a block of text or thinking, or a tool call. An event about a known item replaces what
    /// was known about it. Cheap to clone.
    ItemId
}

id! {
    /// Names a request of the agent that waits for an answer. It may be a digest of the agent's own id, so a backend
    /// keeps that id for the answer.
    RequestId
}

id! {
    /// Names a lasting permission that a request offers.
    GrantId
}

impl GrantId {
    /// The id of what the agent would be sent, as JSON: an answer to a request that was replaced names nothing of the
    /// new one, and the redaction of a journal leaves it as it is.
    #[must_use]
    pub fn of_payload(payload: &str) -> Self {
        Self::new(&format!("{:032x}", fnv1a(payload.as_bytes())))
    }
}

fn bounded(id: &str) -> Arc<str> {
    if id.len() <= MAX_ID_BYTES {
        return id.into();
    }
    format!("digest-{:032x}-{}", fnv1a(id.as_bytes()), id.len()).into()
}

/// FNV-1a with 128 bits.
fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::{ItemId, fnv1a};

    #[test]
    fn digests_are_the_same_in_every_release() {
        // The published test vectors of FNV-1a.
        assert_eq!(fnv1a(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv1a(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(fnv1a(b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
        let id = ItemId::new(&"x".repeat(300));
        assert_eq!(id.as_str(), "digest-0ca87c95ae2960615decdb050f1a92bd-300");
    }

    #[test]
    fn digests_in_old_journals_are_read_as_they_are() {
        let old = "digest-0123456789abcdef-300";
        let id: ItemId = serde_json::from_str(&format!("\"{old}\"")).unwrap();
        assert_eq!(id.as_str(), old);
    }

    #[test]
    fn a_long_id_stays_short_and_the_same() {
        let long = "x".repeat(300);
        let id = ItemId::new(&long);
        assert!(id.as_str().len() < 64);
        assert_eq!(id, ItemId::new(&long));
        assert_ne!(id, ItemId::new(&format!("{long}y")));
        assert_eq!(ItemId::new("toolu_1").as_str(), "toolu_1");
    }
}
