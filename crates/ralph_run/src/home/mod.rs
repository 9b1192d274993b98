//! Where runs live: one directory for each, under the user's state directory.

mod clean;
mod error;
mod place;
mod private;
mod run_directory;

pub use clean::{CleanMode, Cleaned, clean, remove_ended};
pub use error::{FindError, HomeError};
pub use place::Home;
pub(crate) use private::{make_directory, make_directory_all, new_file, private_file, protect};
pub use run_directory::RunDirectory;
