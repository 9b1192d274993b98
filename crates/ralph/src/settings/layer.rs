//! `layer!`: the macro that turns the definitions in `table.rs` into a layer struct and its rows. `resolve` uses the
//! layers, `reference` and `report` the rows.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use yaml_tree::{Node, Problem};

/// One row of the reference: where a setting can be given and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The key in `ralph.yml`; empty if it has none.
    pub key: &'static str,
    /// A second, shorter key; empty if it has none.
    pub short_key: &'static str,
    /// The flag of `ralph run`; empty if it has none.
    pub flag: &'static str,
    /// The environment variable; empty if it has none.
    pub variable: &'static str,
    /// The default, as people write it; empty if there is none.
    pub default: &'static str,
    /// `0` turns it off.
    pub is_limit: bool,
    /// `--dry-run` shows it only if it has a value.
    pub is_shown_if_set: bool,
    /// The values, for the reference.
    pub takes: fn() -> String,
    /// A value in its normal form; `None` if it is not one. Two spellings of a value have the same form.
    pub normal: fn(&str) -> Option<String>,
    /// A value as a number that can be compared; `None` if it has no order.
    pub amount: fn(&str) -> Option<u128>,
    /// For the reference.
    pub meaning: &'static str,
}

impl Setting {
    pub(super) const EMPTY: Self = Self {
        key: "",
        short_key: "",
        flag: "",
        variable: "",
        default: "",
        is_limit: false,
        is_shown_if_set: false,
        takes: String::new,
        normal: |_| None,
        amount: |_| None,
        meaning: "",
    };

    /// How messages and reports call it: its key, else its flag.
    pub const fn name(&self) -> &'static str {
        if self.key.is_empty() { self.flag } else { self.key }
    }

    pub(super) fn has_key(&self, key: &str) -> bool {
        !key.is_empty() && [self.key, self.short_key].contains(&key)
    }
}

/// The layer that decided a setting. A later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Default,
    /// `ralph.yml`.
    File,
    /// The mode that was chosen.
    Mode,
    /// A `RALPH_` variable.
    Environment,
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::File => "ralph.yml",
            Self::Mode => "mode",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// What every layer can do.
pub(super) trait Layer: Sized {
    /// Reads the value of a key, if this layer has it. The longer of two keys counts.
    fn read_key(&mut self, key: &str, node: &Node, name: &str) -> Result<(), Problem>;

    /// Reads the variables of all settings that `above` leaves open.
    fn read_variables(
        variables: &dyn Fn(&str) -> Option<String>,
        above: &Self,
    ) -> Result<Self, SettingsError>;

    fn defaults() -> Result<Self, SettingsError>;

    /// Refuses what clap accepts and no setting does, such as an empty model.
    fn check_flags(&self) -> Result<(), SettingsError>;

    /// Makes relative paths start in `base`.
    fn anchored(self, base: &Path) -> Self;

    fn or(self, lower: Self) -> Self;

    /// Notes `origin` for every setting that this layer has.
    fn note_origins(&self, origin: Origin, origins: &mut BTreeMap<String, Origin>);

    /// The values by name, as `--dry-run` shows them.
    fn show(&self) -> BTreeMap<String, String>;
}

/// Defines a layer: one optional field per setting, and one row per field for the reference.
macro_rules! layer {
    (
        $(#[$attribute:meta])*
        struct $layer:ident, rows $rows:ident;
        $(
            $(#[$argument:meta])*
            $field:ident: $type:ty { $($property:ident: $value:expr),* $(,)? } $meaning:literal
        )*
    ) => {
        $(#[$attribute])*
        pub struct $layer {
            $($(#[$argument])* pub $field: Option<$type>,)*
        }

        pub(super) const $rows: &[Setting] = &[$(Setting {
            $($property: $value,)*
            takes: <$type as Value>::describe,
            normal: |text| <$type as Value>::parse(text).ok().map(|value| Value::show(&value)),
            amount: |text| <$type as Value>::parse(text).ok().and_then(|value| Value::amount(&value)),
            meaning: $meaning,
            ..Setting::EMPTY
        }),*];

        impl Layer for $layer {
            fn read_key(&mut self, key: &str, node: &Node, name: &str) -> Result<(), Problem> {
                $({
                    const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                    if ROW.has_key(key) {
                        let value = <$type as Value>::read(node, name)?;
                        if key == ROW.key || self.$field.is_none() {
                            self.$field = Some(value);
                        }
                    }
                })*
                Ok(())
            }

            fn read_variables(
                variables: &dyn Fn(&str) -> Option<String>,
                above: &Self,
            ) -> Result<Self, SettingsError> {
                Ok(Self {
                    $($field: {
                        const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                        let is_open = !ROW.variable.is_empty() && above.$field.is_none();
                        let text = is_open.then(|| variables(ROW.variable)).flatten();
                        text.filter(|text| <$type as Value>::IS_EMPTY_OFF || !text.trim().is_empty())
                            .map(|text| <$type as Value>::parse(&text))
                            .transpose()
                            .map_err(|message| SettingsError::Environment {
                                name: ROW.variable.to_owned(),
                                message,
                            })?
                    },)*
                })
            }

            fn defaults() -> Result<Self, SettingsError> {
                Ok(Self {
                    $($field: {
                        const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                        (!ROW.default.is_empty())
                            .then(|| <$type as Value>::parse(ROW.default))
                            .transpose()
                            .map_err(|message| {
                                SettingsError::Conflict(format!("the default of {} {message}", ROW.name()))
                            })?
                    },)*
                })
            }

            fn check_flags(&self) -> Result<(), SettingsError> {
                $(if let Some(value) = &self.$field {
                    const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                    Value::check(value)
                        .map_err(|message| SettingsError::Usage(format!("{} {message}", ROW.flag)))?;
                })*
                Ok(())
            }

            fn anchored(self, base: &Path) -> Self {
                Self { $($field: self.$field.map(|value| Value::anchor(value, base)),)* }
            }

            fn or(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)* }
            }

            fn note_origins(&self, origin: Origin, origins: &mut BTreeMap<String, Origin>) {
                $({
                    const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                    if self.$field.is_some() {
                        origins.insert(ROW.name().to_owned(), origin);
                    }
                })*
            }

            fn show(&self) -> BTreeMap<String, String> {
                let mut shown = BTreeMap::new();
                $(if let Some(value) = &self.$field {
                    const ROW: Setting = Setting { $($property: $value,)* ..Setting::EMPTY };
                    let is_off = ROW.is_limit && Value::is_zero(value);
                    let text = if is_off { "none".to_owned() } else { Value::show(value) };
                    shown.insert(ROW.name().to_owned(), text);
                })*
                shown
            }
        }
    };
}

pub(super) use layer;
