//! Names of things within a run.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longer ids are replaced by a digest: an id must stay an id, it cannot be cut.
const MAX_ID_BYTES: usize = 256;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id by which the agent names it. One over 256 bytes becomes a digest of it, always the same.
            #[must_use]
            pub fn new(id: &str) -> Self {
                Self(bounded(id))
            }

            /// The id.
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
    /// Names an item of a run: a block of text or thinking, a tool call. The same id always means the same item, and
    /// an event about a known item replaces what was known. Cheap to clone.
    ItemId
}

id! {
    /// Names a request of the agent that somebody has to answer.
    RequestId
}

fn bounded(id: &str) -> Arc<str> {
    if id.len() <= MAX_ID_BYTES {
        return id.into();
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("digest-{:016x}-{}", hasher.finish(), id.len()).into()
}

#[cfg(test)]
mod tests {
    use super::ItemId;

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
