//! The document that describes the API: it is the one in the repository, and generators can use it.

use std::collections::BTreeSet;
use std::path::Path;

use ralph_server::http::openapi;
use serde_json::Value;

#[test]
fn the_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&openapi()).unwrap());
    if std::env::var_os("RALPH_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "docs/openapi.json is not what the code says: run `RALPH_WRITE_OPENAPI=1 cargo test -p ralph_server --test http written`"
    );
}

/// Every operation, with its method and path.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    operations.collect()
}

fn document() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

#[test]
fn every_operation_has_an_id_of_its_own() {
    let document = document();
    let mut seen = BTreeSet::new();
    for (place, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap_or_default();
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(is_name, "{place}: `{id}` is not a name in snake_case");
        assert!(seen.insert(id.to_owned()), "{place}: `{id}` is used twice");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn the_document_describes_the_api_and_not_the_page() {
    let document = document();
    for (place, _) in operations(&document) {
        let (_, path) = place.split_once(' ').unwrap();
        let is_api = path.starts_with("/api/v1/") || ["/health", "/ready", "/metrics"].contains(&path);
        assert!(is_api, "{place}");
    }
}

#[test]
fn an_operation_lists_the_answers_it_can_give_and_no_others() {
    let document = document();
    let statuses = |path: &str, method: &str| -> String {
        let responses = document["paths"][path][method]["responses"].as_object().unwrap();
        responses.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(statuses("/health", "get"), "200 default");
    assert_eq!(
        statuses("/api/v1/backends", "get"),
        "200 400 401 403 422 429 default"
    );
    assert_eq!(statuses("/api/v1/runs", "get"), "200 400 401 403 422 429 default");
    assert_eq!(
        statuses("/api/v1/runs/{id}/interrupt", "post"),
        "202 400 401 403 404 409 422 429 503 504 default"
    );
    assert_eq!(
        statuses("/api/v1/runs", "post"),
        "201 400 401 403 409 413 415 422 429 default"
    );
}

#[test]
fn a_field_that_is_always_sent_is_required() {
    let document = document();
    for (schema, fields) in [
        ("RunPage", vec!["items", "next"]),
        ("Approvals", vec!["items", "next"]),
        ("Costs", vec!["items", "next"]),
        ("Approval", vec!["closed_at", "state"]),
        ("Backend", vec!["version", "path", "problem"]),
    ] {
        let required: Vec<&str> = document["components"]["schemas"][schema]["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        for field in fields {
            assert!(required.contains(&field), "{schema}.{field}");
        }
    }
}

#[test]
fn every_code_that_only_the_stream_has_is_explained_where_the_stream_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let codes = document()["components"]["schemas"]["ProblemCode"]["enum"].clone();
    let text = std::fs::read_to_string(root.join("../../docs/stream.md")).unwrap();
    let explained = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let explained: BTreeSet<&str> = explained
        .map(|(code, _)| code)
        .filter(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
        .collect();
    let is_code = |word: &&&str| codes.as_array().unwrap().contains(&Value::from(**word));
    assert_eq!(
        explained.iter().filter(is_code).count(),
        explained.len(),
        "{explained:?}"
    );
    let mut used = BTreeSet::new();
    for file in [
        "protocol.rs",
        "subscriptions.rs",
        "server_events.rs",
        "websocket.rs",
    ] {
        let source = std::fs::read_to_string(root.join("src/stream").join(file)).unwrap();
        let names = source.split("code: ProblemCode::").skip(1);
        used.extend(names.map(|rest| {
            let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            name.char_indices()
                .fold(String::new(), |mut word, (index, letter)| {
                    if letter.is_ascii_uppercase() && index > 0 {
                        word.push('_');
                    }
                    word.push(letter.to_ascii_lowercase());
                    word
                })
        }));
    }
    assert_eq!(used, explained.into_iter().map(str::to_owned).collect());
}
