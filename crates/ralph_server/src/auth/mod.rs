//! Who may ask: the server's own names, its token, and the sessions of browsers.

mod bucket;
mod error;
mod gate;
mod hosts;
mod secret;
mod sessions;
mod token;

pub(crate) use bucket::Bucket;
pub use error::AuthError;
pub use gate::{Auth, AuthOptions};
pub(crate) use hosts::{Hosts, Origin, only};
pub(crate) use secret::{Digest, digest_hex, same, sha256};
pub(crate) use sessions::SESSION_LIFETIME;
