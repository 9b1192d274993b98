//! Opens the index: in a directory, or in the database of `RALPH_SERVER_DATABASE`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use ralph_run::Home;
use ralph_store::{
    DatabaseAddress, HomeClaim, OtherHome, PostgresOptions, PostgresStore, SearchOptions, SqliteOptions,
    SqliteStore, Store, StoreError,
};

use crate::console::write_stderr;
use crate::failure::Failure;
use crate::home::absolute;

/// The address of a database. Not a flag, because it may contain a password.
pub(in crate::commands) const DATABASE_VARIABLE: &str = "RALPH_SERVER_DATABASE";

/// Opens the index, and reports damage that was found.
pub(in crate::commands) async fn open_index(
    home: &Home,
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Arc<dyn Store>> {
    open(home, data, variables, Opening::Existing).await
}

/// Opens an index that is to be built again. An existing file is moved aside.
pub(in crate::commands) async fn recreate_index(
    home: &Home,
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
    other: OtherHome,
) -> anyhow::Result<Arc<dyn Store>> {
    open(home, data, variables, Opening::Recreated(other)).await
}

/// The file of the text index, to be read beside the server that has it open; `None` if it is not in a file.
pub(in crate::commands) fn text_index_file(
    home: &Home,
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<SearchOptions>> {
    Ok(match address(data, variables)? {
        DatabaseAddress::Sqlite { directory } => Some(SearchOptions {
            path: directory.join("search.db"),
            runs_directory: home.runs_directory(),
        }),
        DatabaseAddress::Postgres { .. } => None,
    })
}

fn address(
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<DatabaseAddress> {
    Ok(
        match variables(DATABASE_VARIABLE).filter(|address| !address.is_empty()) {
            Some(address) => {
                DatabaseAddress::parse(&address).map_err(|error| Failure::config(error.to_string()))?
            }
            None => DatabaseAddress::Sqlite {
                directory: data_directory(data, variables)?,
            },
        },
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Existing,
    /// With what to do if the index belongs to another state directory.
    Recreated(OtherHome),
}

async fn open(
    home: &Home,
    data: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
    opening: Opening,
) -> anyhow::Result<Arc<dyn Store>> {
    let claim = HomeClaim {
        id: home.id()?,
        other: match opening {
            Opening::Existing => OtherHome::Refuse,
            Opening::Recreated(other) => other,
        },
    };
    match address(data, variables)? {
        DatabaseAddress::Sqlite { directory } => {
            let options = SqliteOptions {
                data_directory: directory,
                runs_directory: home.runs_directory(),
                home: Some(claim),
            };
            let opened = match opening {
                Opening::Existing => SqliteStore::open(options).await?,
                Opening::Recreated(_) => SqliteStore::open_anew(options).await?,
            };
            for note in &opened.notes {
                write_stderr(&format!("ralph: {note}\n"));
            }
            Ok(Arc::new(opened.store))
        }
        DatabaseAddress::Postgres { url } => {
            let options = PostgresOptions {
                home: Some(claim),
                ..PostgresOptions::new(url)
            };
            let store = connect(options).await.map_err(|error| match error {
                StoreError::BadAddress(_) => Failure::config(error.to_string()).into(),
                error => anyhow::Error::from(error),
            });
            Ok(Arc::new(store?))
        }
    }
}

/// Reports once that it waits for the database.
async fn connect(options: PostgresOptions) -> Result<PostgresStore, StoreError> {
    let mut is_reported = false;
    let connecting = PostgresStore::connect(options, |waiting| {
        if !std::mem::replace(&mut is_reported, true) {
            let seconds = waiting.patience.as_secs();
            write_stderr(&format!(
                "ralph: {}; waiting up to {seconds} s\n",
                waiting.problem
            ));
        }
    });
    connecting.await
}

fn data_directory(
    asked: Option<&Path>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<PathBuf> {
    if let Some(asked) = asked {
        return std::path::absolute(asked)
            .with_context(|| format!("no such directory: `{}`", asked.display()));
    }
    let absolute = |name: &str| absolute(variables, name);
    let data = match absolute("XDG_DATA_HOME") {
        Some(data) => data,
        None => absolute("HOME")
            .context("neither XDG_DATA_HOME nor HOME says where to keep the index: use `--data DIR`")?
            .join(".local/share"),
    };
    Ok(data.join("ralph"))
}
