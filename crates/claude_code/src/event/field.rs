//! Reads typed fields, and declares structs made of them.

use crate::json::{Cursor, Failed, RawJson};
use crate::money::MicroUsd;
use crate::text::Text;

/// A field's type knows how to read itself; a value of another type leaves the default.
///
/// Fields are read in place: moving them around would cost as much as reading them.
pub(crate) trait Field: Default {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed>;
}

/// Takes the members that a struct does not name.
pub(crate) trait Rest {
    fn take(&mut self, cursor: &mut Cursor<'_>, key: &[u8]) -> Result<(), Failed>;
}

/// Passes them by: they stay in the raw line.
pub(crate) struct Ignored;

impl Rest for Ignored {
    #[inline(always)]
    fn take(&mut self, cursor: &mut Cursor<'_>, _key: &[u8]) -> Result<(), Failed> {
        cursor.skip()
    }
}

/// A struct that is read from an object.
pub(crate) trait Object: Default {
    /// Says whether the value is an object; if not, nothing was read.
    fn read_members(&mut self, cursor: &mut Cursor<'_>, rest: &mut impl Rest) -> Result<bool, Failed>;
}

macro_rules! scalar_fields {
    ($($type:ty => $method:ident),+ $(,)?) => {$(
        impl Field for Option<$type> {
            #[inline(never)]
            fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
                *self = cursor.$method()?;
                Ok(())
            }
        }
    )+};
}

scalar_fields! { Text => text, u64 => u64, f64 => f64, bool => bool, RawJson => raw }

impl Field for bool {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        *self = cursor.bool()?.unwrap_or_default();
        Ok(())
    }
}

impl Field for Option<MicroUsd> {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        *self = cursor.micro_units()?.map(MicroUsd::new);
        Ok(())
    }
}

impl<T: Object> Field for Vec<T> {
    /// Of more elements than a line may have, the first ones; [`crate::Event::field`] has the list as written.
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        self.clear();
        cursor.array(|cursor| {
            if !cursor.allows_element() {
                return cursor.skip();
            }
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
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        if cursor.peek() != Some(b'{') {
            *self = None;
            return cursor.skip();
        }
        self.insert(Box::default()).read_members(cursor, &mut Ignored)?;
        Ok(())
    }
}

/// Declares a struct whose fields are read from the members of the same object. Members that it does not name go
/// to the reader's [`Rest`]; of duplicate keys the last one counts. A field can have other keys in other dialects.
///
/// `usual` lists members in the order in which the CLI writes them (`rest` for those that go to the rest): they are
/// compared instead of searched, which is most of the work. It is only a guess, any order is read.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( @usual { $( $usual:ident $usual_key:literal ),+ $(,)? } )?
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal $(| $other_key:literal)*, )*
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
            ) -> Result<bool, $crate::json::Failed> {
                let entry = cursor.enter(b'{', b'}')?;
                if entry != $crate::json::Entry::Inside {
                    return Ok(entry == $crate::json::Entry::Empty);
                }
                $( $(
                    if cursor.is_at_key(concat!("\"", $usual_key, "\":").as_bytes()) {
                        $crate::event::field::usual_member!(self, cursor, rest, $usual, $usual_key);
                        if !cursor.next_member()? {
                            return Ok(true);
                        }
                    }
                )+ )?
                cursor.members(
                    #[inline(always)]
                    |cursor, key| match key {
                        $( $key $(| $other_key)* => $crate::event::field::Field::read(&mut self.$field, cursor), )*
                        _ => rest.take(cursor, key),
                    },
                )?;
                Ok(true)
            }
        }

        impl $crate::event::field::Field for Option<$name> {
            fn read(&mut self, cursor: &mut $crate::json::Cursor<'_>) -> Result<(), $crate::json::Failed> {
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

macro_rules! usual_member {
    ($self:ident, $cursor:ident, $rest:ident, rest, $key:literal) => {
        $rest.take($cursor, $key.as_bytes())?
    };
    ($self:ident, $cursor:ident, $rest:ident, $field:ident, $key:literal) => {
        $crate::event::field::Field::read(&mut $self.$field, $cursor)?
    };
}
pub(crate) use usual_member;
