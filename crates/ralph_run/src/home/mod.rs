//! `Home` and `RunDirectory`: one directory for each run, under the user's state directory.

mod base32;
mod clean;
mod error;
mod home_id;
mod place;
mod private;
mod regular_file;
mod run_directory;
mod run_id;

pub use base32::{canonical_base32, is_base32, random_base32};
pub use clean::{CleanMode, Cleaned, clean, remove_ended};
pub use error::{Candidate, FindError, HomeError};
pub use place::Home;
pub(crate) use private::{make_directory, make_private_folder, new_file, protect};
pub use private::{make_directory_all, private_file};
pub use regular_file::{open_linked_file, open_regular_file};
pub(crate) use run_directory::MAX_SOCKET_PATH_BYTES;
pub use run_directory::{RUN_ID_VARIABLE, RunDirectory};
pub use run_id::short_run_id;
