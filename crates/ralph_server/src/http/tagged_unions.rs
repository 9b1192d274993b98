//! `name_variants`: gives each variant of a union a schema of its own, and a tagged union a discriminator.
//!
//! utoipa writes the variants of an enum in place. Generators of clients invent names for those, and some invent
//! the same name twice and leave the type out. Where an enum is mostly words (`EndReason`), they make a type of each word.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{Discriminator, Object, OneOf};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Schema, Type};

/// Moves the variants of every union among `schemas` to schemas of their own.
pub(super) fn name_variants(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let mut named = Vec::new();
    for (union, schema) in schemas.iter_mut() {
        if let RefOr::T(Schema::OneOf(one_of)) = schema {
            match tag_of(one_of) {
                Some(tag) => named.extend(name_variants_of(union, &tag, one_of)),
                None => named.extend(join_words(union, one_of)),
            }
        }
    }
    schemas.extend(named);
}

/// Makes one enum of all variants that are words, and gives the others names.
fn join_words(union: &str, one_of: &mut OneOf) -> Vec<(String, RefOr<Schema>)> {
    let words: Vec<&Object> = one_of.items.iter().filter_map(as_word).collect();
    if words.len() < 2 {
        return Vec::new();
    }
    let lines = words.iter().filter_map(|word| {
        let value = word.enum_values.as_deref()?.first()?.as_str()?;
        Some(format!("`{value}`: {}", word.description.as_deref()?))
    });
    let values = words.iter().filter_map(|word| word.enum_values.clone()).flatten();
    let joined = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(lines.collect::<Vec<_>>().join("\n")))
        .enum_values(Some(values))
        .build();
    let name = format!("{union}Word");
    let mut items = vec![RefOr::Ref(Ref::from_schema_name(&name))];
    let mut named = vec![(name, RefOr::T(Schema::Object(joined)))];
    for variant in std::mem::take(&mut one_of.items) {
        match (as_word(&variant), only_property(&variant)) {
            (Some(_), _) => {}
            (None, Some(property)) => {
                let name = format!("{union}{}", pascal_case(&property));
                items.push(RefOr::Ref(Ref::from_schema_name(&name)));
                named.push((name, variant));
            }
            (None, None) => items.push(variant),
        }
    }
    one_of.items = items;
    named
}

/// A variant that is one word.
fn as_word(variant: &RefOr<Schema>) -> Option<&Object> {
    match variant {
        RefOr::T(Schema::Object(object))
            if object
                .enum_values
                .as_ref()
                .is_some_and(|values| values.len() == 1) =>
        {
            Some(object)
        }
        _ => None,
    }
}

fn only_property(variant: &RefOr<Schema>) -> Option<String> {
    let RefOr::T(Schema::Object(object)) = variant else {
        return None;
    };
    let mut names = object.properties.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}

fn name_variants_of(union: &str, tag: &str, one_of: &mut OneOf) -> Vec<(String, RefOr<Schema>)> {
    let mut discriminator = Discriminator::new(tag);
    let mut named = Vec::new();
    for variant in &mut one_of.items {
        let Some(value) = tag_value(variant, tag) else {
            continue;
        };
        let name = format!("{union}{}", pascal_case(&value));
        let reference = Ref::from_schema_name(&name);
        discriminator
            .mapping
            .insert(value, reference.ref_location.clone());
        named.push((name, std::mem::replace(variant, RefOr::Ref(reference))));
    }
    one_of.discriminator = Some(discriminator);
    named
}

/// The property that has exactly one value in each variant, another one in each.
fn tag_of(one_of: &OneOf) -> Option<String> {
    let RefOr::T(Schema::Object(first)) = one_of.items.first()? else {
        return None;
    };
    let is_tag = |name: &&String| {
        one_of
            .items
            .iter()
            .all(|variant| tag_value(variant, name).is_some())
    };
    first.properties.keys().find(is_tag).cloned()
}

/// The only value that this property of a variant can have.
fn tag_value(variant: &RefOr<Schema>, tag: &str) -> Option<String> {
    let RefOr::T(Schema::Object(object)) = variant else {
        return None;
    };
    let RefOr::T(Schema::Object(property)) = object.properties.get(tag)? else {
        return None;
    };
    match property.enum_values.as_deref()? {
        [value] if object.required.iter().any(|name| name == tag) => value.as_str().map(str::to_owned),
        _ => None,
    }
}

fn pascal_case(word: &str) -> String {
    let part = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    word.split('_').map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};
    use utoipa::PartialSchema;

    use super::name_variants;
    use crate::http::schema::{EndReason, RunKind};
    use crate::launch::TrustChoice;

    fn named<T: PartialSchema>(name: &str) -> Value {
        let mut schemas = BTreeMap::from([(name.to_owned(), T::schema())]);
        name_variants(&mut schemas);
        serde_json::to_value(schemas).unwrap()
    }

    #[test]
    fn every_variant_of_a_tagged_union_has_a_name() {
        let schemas = named::<TrustChoice>("TrustChoice");
        let union = &schemas["TrustChoice"];
        let [trust, leave_out] =
            ["Trust", "LeaveOut"].map(|name| format!("#/components/schemas/TrustChoice{name}"));
        assert_eq!(union["oneOf"][0]["$ref"], json!(trust));
        let discriminator =
            json!({"propertyName": "kind", "mapping": {"trust": trust, "leave_out": leave_out}});
        assert_eq!(union["discriminator"], discriminator);
        assert_eq!(schemas["TrustChoiceTrust"]["required"], json!(["digest", "kind"]));
        assert_eq!(schemas.as_object().unwrap().len(), 3);
    }

    #[test]
    fn the_words_of_a_union_become_one_enum() {
        let schemas = named::<EndReason>("EndReason");
        let [word, limit] = ["Word", "Limit"].map(|name| format!("#/components/schemas/EndReason{name}"));
        assert_eq!(
            schemas["EndReason"]["oneOf"],
            json!([{"$ref": word}, {"$ref": limit}])
        );
        let words = schemas["EndReasonWord"]["enum"].as_array().unwrap();
        assert_eq!((words.len(), &words[0]), (16, &json!("completed")));
        let description = schemas["EndReasonWord"]["description"].as_str().unwrap();
        assert!(
            description.starts_with("`completed`: The work is done.\n`agent_error`: "),
            "{description}"
        );
        assert_eq!(schemas["EndReasonLimit"]["required"], json!(["limit"]));
        assert_eq!(schemas.as_object().unwrap().len(), 3);
    }

    #[test]
    fn what_is_not_a_union_stays_as_it_is() {
        let kind = serde_json::to_value(RunKind::schema()).unwrap();
        assert_eq!(named::<RunKind>("RunKind"), json!({"RunKind": kind}));
    }
}
