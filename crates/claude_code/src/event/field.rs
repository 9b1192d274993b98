//! Reads typed fields, and declares structs made of them.

use crate::json::{Cursor, Fault, RawJson};
use crate::money::MicroUsd;
use crate::text::Text;

/// A field's type knows how to read itself; a value of another type leaves the default.
pub(crate) trait Field: Default {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault>;
}

/// Takes the members that a struct does not name.
pub(crate) trait Rest {
    fn take(&mut self, cursor: &mut Cursor<'_>, key: &[u8]) -> Result<(), Fault>;
}

/// Passes them by: they stay in the raw line.
pub(crate) struct Ignored;

impl Rest for Ignored {
    #[inline(always)]
    fn take(&mut self, cursor: &mut Cursor<'_>, _key: &[u8]) -> Result<(), Fault> {
        cursor.skip()
    }
}

/// A struct that is read from an object.
pub(crate) trait Object: Sized {
    /// `None` when the value is not an object.
    fn read_object(cursor: &mut Cursor<'_>, rest: &mut impl Rest) -> Result<Option<Self>, Fault>;
}

macro_rules! scalar_fields {
    ($($type:ty => $method:ident),+ $(,)?) => {$(
        impl Field for Option<$type> {
            #[inline(always)]
            fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
                cursor.$method()
            }
        }
    )+};
}

scalar_fields! { Text => text, u64 => u64, f64 => f64, bool => bool, RawJson => raw }

impl Field for bool {
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        Ok(cursor.bool()?.unwrap_or_default())
    }
}

impl Field for Option<MicroUsd> {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        Ok(cursor.micro_units()?.map(MicroUsd::new))
    }
}

impl<T: Object> Field for Vec<T> {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        let mut list = Vec::new();
        cursor.array(|cursor| {
            list.extend(T::read_object(cursor, &mut Ignored)?);
            Ok(())
        })?;
        Ok(list)
    }
}

/// Declares a struct whose fields are read from the members of the same object. Members that it does not name go
/// to the reader's [`Rest`]; of duplicate keys the last one counts.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl $crate::event::field::Object for $name {
            fn read_object(
                cursor: &mut $crate::json::Cursor<'_>,
                rest: &mut impl $crate::event::field::Rest,
            ) -> Result<Option<Self>, $crate::json::Fault> {
                let mut value = Self::default();
                let is_object = cursor.object(|cursor, key| {
                    match key {
                        $( $key => value.$field = $crate::event::field::Field::read(cursor)?, )*
                        _ => rest.take(cursor, key)?,
                    }
                    Ok(())
                })?;
                Ok(is_object.then_some(value))
            }
        }

        impl $crate::event::field::Field for Option<$name> {
            fn read(cursor: &mut $crate::json::Cursor<'_>) -> Result<Self, $crate::json::Fault> {
                $crate::event::field::Object::read_object(cursor, &mut $crate::event::field::Ignored)
            }
        }
    };
}
pub(crate) use wire_struct;
