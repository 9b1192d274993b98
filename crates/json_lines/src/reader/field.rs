//! `wire_struct!` and the traits behind it: structs that are read from the members of an object.

use super::cursor::Cursor;
use super::fault::Failed;
use crate::raw_json::RawJson;
use crate::text::Text;

/// The type of a struct's field. A value of another type leaves the default.
pub trait Field: Default {
    /// Reads the value at the cursor in place: moving fields around would cost as much as reading them.
    ///
    /// # Errors
    /// When the bytes are not JSON.
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed>;
}

/// A type that can be absent: `Option` of it is a [`Field`].
pub trait Value: Sized {
    /// Reads the value at the cursor; a value of another type leaves `None`.
    ///
    /// # Errors
    /// When the bytes are not JSON.
    fn read_into(slot: &mut Option<Self>, cursor: &mut Cursor<'_>) -> Result<(), Failed>;
}

/// Takes the members that a struct does not name.
pub trait UnknownMembers {
    /// Consumes the value of the member `key`.
    ///
    /// # Errors
    /// When the bytes are not JSON.
    fn take(&mut self, cursor: &mut Cursor<'_>, key: &[u8]) -> Result<(), Failed>;
}

/// Skips unknown members. They stay in the raw line.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkipUnknown;

impl UnknownMembers for SkipUnknown {
    #[inline(always)]
    fn take(&mut self, cursor: &mut Cursor<'_>, _key: &[u8]) -> Result<(), Failed> {
        cursor.skip()
    }
}

/// A struct that is read from an object; see [`wire_struct!`](crate::wire_struct).
pub trait Object: Default {
    /// Returns whether the value is an object; if not, nothing was read.
    ///
    /// # Errors
    /// When the bytes are not JSON.
    fn read_members(
        &mut self,
        cursor: &mut Cursor<'_>,
        unknown: &mut impl UnknownMembers,
    ) -> Result<bool, Failed>;
}

impl<T: Value> Field for Option<T> {
    #[inline(always)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        T::read_into(self, cursor)
    }
}

macro_rules! scalar_values {
    ($($type:ty => $method:ident),+ $(,)?) => {$(
        impl Value for $type {
            #[inline(never)]
            fn read_into(slot: &mut Option<Self>, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
                *slot = cursor.$method()?;
                Ok(())
            }
        }
    )+};
}

scalar_values! { Text => text, u64 => u64, f64 => f64, bool => bool, RawJson => raw }

impl Field for bool {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        *self = cursor.bool()?.unwrap_or_default();
        Ok(())
    }
}

impl<T: Object> Field for Vec<T> {
    /// If a line has more elements than [`MAX_ELEMENTS`](super::MAX_ELEMENTS), only the first ones are read.
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        self.clear();
        cursor.array(|cursor| {
            if !cursor.allows_element() {
                return cursor.skip();
            }
            let mut element = T::default();
            if element.read_members(cursor, &mut SkipUnknown)? {
                self.push(element);
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl<T: Object> Value for Box<T> {
    #[inline]
    fn read_into(slot: &mut Option<Self>, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        if cursor.peek() != Some(b'{') {
            *slot = None;
            return cursor.skip();
        }
        slot.insert(Box::default())
            .read_members(cursor, &mut SkipUnknown)?;
        Ok(())
    }
}

/// Declares structs whose fields are read from the members of an object. Members that it does not name go to the
/// caller's [`UnknownMembers`](crate::reader::UnknownMembers); of duplicate keys the last one counts. A field can
/// have several keys, and needs no comment if its name and type say everything.
///
/// `@usual` lists members in the order in which they are usually written (`unknown` for members that the struct does
/// not name): they are compared instead of searched, which saves most of the work. Any other order is read too.
#[macro_export]
macro_rules! wire_struct {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( @usual { $( $usual:ident $usual_key:literal ),+ $(,)? } )?
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal $(| $other_key:literal)*, )*
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl $crate::reader::Object for $name {
            fn read_members(
                &mut self,
                cursor: &mut $crate::reader::Cursor<'_>,
                unknown: &mut impl $crate::reader::UnknownMembers,
            ) -> Result<bool, $crate::reader::Failed> {
                let entry = cursor.enter(b'{', b'}')?;
                if entry != $crate::reader::Entry::Inside {
                    return Ok(entry == $crate::reader::Entry::Empty);
                }
                $( $(
                    if cursor.is_at_key(concat!("\"", $usual_key, "\":").as_bytes()) {
                        $crate::usual_member!(self, cursor, unknown, $usual, $usual_key);
                        if !cursor.next_member()? {
                            return Ok(true);
                        }
                    }
                )+ )?
                cursor.members(
                    #[inline(always)]
                    |cursor, key| match key {
                        $( $key $(| $other_key)* => $crate::reader::Field::read(&mut self.$field, cursor), )*
                        _ => unknown.take(cursor, key),
                    },
                )?;
                Ok(true)
            }
        }

        impl $crate::reader::Value for $name {
            fn read_into(
                slot: &mut Option<Self>,
                cursor: &mut $crate::reader::Cursor<'_>,
            ) -> Result<(), $crate::reader::Failed> {
                let value = slot.insert($name::default());
                let is_object = $crate::reader::Object::read_members(
                    value,
                    cursor,
                    &mut $crate::reader::SkipUnknown,
                )?;
                if !is_object {
                    *slot = None;
                }
                Ok(())
            }
        }
    )+};
}

/// Used by [`wire_struct!`].
#[doc(hidden)]
#[macro_export]
macro_rules! usual_member {
    ($self:ident, $cursor:ident, $unknown:ident, unknown, $key:literal) => {
        $unknown.take($cursor, $key.as_bytes())?
    };
    ($self:ident, $cursor:ident, $unknown:ident, $field:ident, $key:literal) => {
        $crate::reader::Field::read(&mut $self.$field, $cursor)?
    };
}
