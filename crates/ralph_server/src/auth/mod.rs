//! `Auth`: the host names of the server, its tokens, the login sessions of browsers, and one-time tickets.

mod authenticator;
mod bucket;
mod clock;
mod error;
mod hosts;
mod lifetime;
mod principal;
mod secret;
mod server_token;
mod sessions;
mod start_limits;
mod tickets;
mod token_file;
mod token_registry;

pub use authenticator::{Auth, AuthOptions};
pub(crate) use bucket::{Buckets, Throttle};
pub use error::AuthError;
pub(crate) use hosts::{Origin, only};
pub use lifetime::SessionGuard;
pub(crate) use principal::{Credential, grants_more};
pub use principal::{Principal, Scope};
pub(crate) use secret::digest_hex;
pub(crate) use server_token::read_token;
pub use server_token::rotate_server_token;
pub(crate) use sessions::{NewSession, SessionInfo};
pub(crate) use start_limits::{Holder, StartBound};
pub use start_limits::{ServerStartLimits, StartLimits};
pub use token_file::{NewToken, TokenEntry, TokenError, TokenFile};
