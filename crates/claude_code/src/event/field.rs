//! Reads typed fields, and declares structs made of them.

use crate::json::{Cursor, Fault, RawJson};
use crate::money::MicroUsd;
use crate::text::Text;

/// A field's type knows how to read itself; a value of another type leaves the default.
///
/// Fields are read in place: moving them around would cost as much as reading them.
pub(crate) trait Field: Default {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault>;
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
pub(crate) trait Object: Default {
    /// Says whether the value is an object; if not, nothing was read.
    fn read_members(&mut self, cursor: &mut Cursor<'_>, rest: &mut impl Rest) -> Result<bool, Fault>;
}

macro_rules! scalar_fields {
    ($($type:ty => $method:ident),+ $(,)?) => {$(
        impl Field for Option<$type> {
            #[inline(always)]
            fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
                *self = cursor.$method()?;
                Ok(())
            }
        }
    )+};
}

scalar_fields! { Text => text, u64 => u64, f64 => f64, bool => bool, RawJson => raw }

impl Field for bool {
    #[inline(always)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        *self = cursor.bool()?.unwrap_or_default();
        Ok(())
    }
}

impl Field for Option<MicroUsd> {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        *self = cursor.micro_units()?.map(MicroUsd::new);
        Ok(())
    }
}

impl<T: Object> Field for Vec<T> {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        self.clear();
        cursor.array(|cursor| {
            let mut element = T::default();
            if element.read_members(cursor, &mut Ignored)? {
                self.push(element);
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl<T: Object> Field for Option<Box<T>> {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if cursor.peek() != Some(b'{') {
            *self = None;
            return cursor.skip();
        }
        self.insert(Box::default()).read_members(cursor, &mut Ignored)?;
        Ok(())
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
            fn read_members(
                &mut self,
                cursor: &mut $crate::json::Cursor<'_>,
                rest: &mut impl $crate::event::field::Rest,
            ) -> Result<bool, $crate::json::Fault> {
                cursor.object(
                    #[inline(always)]
                    |cursor, key| match key {
                        $( $key => $crate::event::field::Field::read(&mut self.$field, cursor), )*
                        _ => rest.take(cursor, key),
                    },
                )
            }
        }

        impl $crate::event::field::Field for Option<$name> {
            fn read(&mut self, cursor: &mut $crate::json::Cursor<'_>) -> Result<(), $crate::json::Fault> {
                use $crate::event::field::Object as _;
                let is_object = self.insert($name::default()).read_members(cursor, &mut $crate::event::field::Ignored)?;
                if !is_object {
                    *self = None;
                }
                Ok(())
            }
        }
    };
}
pub(crate) use wire_struct;
