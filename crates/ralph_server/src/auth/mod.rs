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
pub(crate) use hosts::{Origin, only};
pub(crate) use secret::digest_hex;
pub(crate) use sessions::SESSION_LIFETIME;
pub use sessions::Visit;
pub(crate) use token::read_token;
