//! Where the index is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use ralph_run::Home;
use ralph_store::{DatabaseAddress, SqliteOptions, SqliteStore, Store};

use crate::console::write_stderr;
use crate::failure::Failure;

/// Says which database; it may have a password in it, so no flag does.
const DATABASE: &str = "RALPH_SERVER_DATABASE";

/// Opens the index: in a directory, or where the environment says. What was found wrong with it is told.
pub(super) async fn open_index(
    home: &Home,
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Arc<dyn Store>> {
    let address = match variables(DATABASE).filter(|address| !address.is_empty()) {
        Some(address) => {
            DatabaseAddress::parse(&address).map_err(|error| Failure::config(error.to_string()))?
        }
        None => DatabaseAddress::Sqlite {
            directory: data_directory(data, variables)?,
        },
    };
    match address {
        DatabaseAddress::Sqlite { directory } => {
            let opened = SqliteStore::open(SqliteOptions {
                data_directory: directory,
                runs_directory: home.runs_directory(),
            });
            let opened = opened.await?;
            for note in &opened.notes {
                write_stderr(&format!("ralph: {note}\n"));
            }
            Ok(Arc::new(opened.store))
        }
        DatabaseAddress::Postgres { .. } => Err(Failure::config(
            "PostgreSQL is not supported yet: leave `RALPH_SERVER_DATABASE` empty",
        )
        .into()),
    }
}

fn data_directory(
    asked: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<PathBuf> {
    if let Some(asked) = asked {
        return std::path::absolute(asked)
            .with_context(|| format!("no such directory: `{}`", asked.display()));
    }
    let absolute = |name: &str| {
        variables(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = match absolute("XDG_DATA_HOME") {
        Some(data) => data,
        None => absolute("HOME")
            .context("neither XDG_DATA_HOME nor HOME says where to keep the index: use `--data DIR`")?
            .join(".local/share"),
    };
    Ok(data.join("ralph"))
}
