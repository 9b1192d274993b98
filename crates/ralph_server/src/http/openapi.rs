//! The document that describes the API, made of the same table as the router.

use std::sync::OnceLock;

use axum::http::header;
use axum::response::IntoResponse;
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required, Response,
    ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema};

use super::idempotency::takes_key;
use super::route::{Policy, operations_mut};
use super::router::table;
use super::tagged_unions::name_variants;
use crate::launch::UntrustedSetting;
use crate::problem::{FieldError, ProblemBody, ProblemCode, ReachedLimit};

const PROBLEM: &str = "Problem";

/// The document that describes the API.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut paths = Paths::new();
    let mut components = ComponentsBuilder::new()
        .security_scheme(
            "token",
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build()),
        )
        .response(PROBLEM, problem())
        .schema(PROBLEM, ProblemBody::schema())
        .schema(ProblemCode::name(), ProblemCode::schema())
        .schema(FieldError::name(), FieldError::schema())
        .schema(ReachedLimit::name(), ReachedLimit::schema())
        .schema(UntrustedSetting::name(), UntrustedSetting::schema());
    for route in table().into_iter().filter(|route| route.is_documented) {
        let mut described = route.paths;
        for (method, operation) in described.paths.values_mut().flat_map(operations_mut) {
            let takes_key = method == HttpMethod::Post && takes_key(&route.path);
            complete(operation, route.rule.policy, takes_key);
        }
        for (path, item) in described.paths {
            match paths.paths.get_mut(&path) {
                Some(known) => known.merge_operations(item),
                None => drop(paths.paths.insert(path, item)),
            }
        }
        components = components.schemas_from_iter(route.schemas);
    }
    let description = "Runs of coding agents: see them, start them, steer them. Every error is a problem \
        (RFC 9457) with a `code` that keeps its meaning.";
    let info = InfoBuilder::new()
        .title("ralph")
        .version("1")
        .description(Some(description))
        .build();
    let mut components = components.build();
    name_variants(&mut components.schemas);
    OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(components))
        .build()
}

/// Adds what follows from an operation's shape: its security, the idempotency key, and the problems it can answer with.
/// `default` is for problems that any request can meet, such as a connection that is one too many.
fn complete(operation: &mut Operation, policy: Policy, takes_key: bool) {
    let scopes: [&str; 0] = [];
    operation.security = Some(match policy {
        Policy::Public => Vec::new(),
        Policy::Scope(_) | Policy::ServerToken => vec![SecurityRequirement::new("token", scopes)],
    });
    if takes_key {
        let parameters = operation.parameters.get_or_insert_default();
        parameters.push(RefOr::T(idempotency_key()));
    }
    for status in problem_statuses(operation, policy, takes_key) {
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert(RefOr::Ref(Ref::from_response_name(PROBLEM)));
    }
}

fn problem_statuses(operation: &Operation, policy: Policy, takes_key: bool) -> Vec<&'static str> {
    let parameters = || operation.parameters.iter().flatten();
    let has_path_parameter = parameters().any(|parameter| is_in(parameter, &ParameterIn::Path));
    let is_deletion = has_path_parameter && operation.responses.responses.contains_key("204");
    let is_command = operation.responses.responses.contains_key("202");
    // A cursor or a workspace can be well formed and still not usable.
    let can_be_unusable = parameters().any(|parameter| {
        matches!(parameter, RefOr::T(parameter) if ["cursor", "workspace"].contains(&parameter.name.as_str()))
    });
    let mut statuses = vec!["default"];
    if policy != Policy::Public {
        statuses.extend(["401", "403", "429"]);
    }
    if operation.request_body.is_some() {
        statuses.extend(["400", "413", "415", "422"]);
    }
    if parameters().next().is_some() {
        statuses.push("400");
    }
    if has_path_parameter {
        statuses.push("404");
    }
    if can_be_unusable {
        statuses.push("422");
    }
    if takes_key {
        // The key may have been used for another request.
        statuses.extend(["409", "422"]);
    }
    if is_deletion {
        statuses.push("409");
    }
    if is_command {
        statuses.extend(["409", "422", "503", "504"]);
    }
    statuses
}

fn is_in(parameter: &RefOr<Parameter>, place: &ParameterIn) -> bool {
    matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == *place)
}

fn idempotency_key() -> Parameter {
    ParameterBuilder::new()
        .name("idempotency-key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The same request under the same key is done once, for 24 hours.",
        ))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(255))
                .pattern(Some("^[!-~]([ -~]*[!-~])?$")),
        ))
        .build()
}

fn problem() -> Response {
    let schema = Ref::from_schema_name(PROBLEM);
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new()
        .description("A problem.")
        .content("application/problem+json", content)
        .build()
}

/// Describes the messages of the WebSocket and the records of runs, as a JSON Schema.
#[utoipa::path(get, path = "/api/v1/stream.schema.json", operation_id = "stream_schema", tag = "live",
    responses((status = 200, description = "The schema.", body = Object, content_type = "application/schema+json")))]
pub(super) async fn stream_schema() -> impl IntoResponse {
    let schema = include_str!("../../../../docs/stream.schema.json");
    ([(header::CONTENT_TYPE, "application/schema+json")], schema)
}

/// Describes the API.
#[utoipa::path(get, path = "/api/v1/openapi.json", operation_id = "openapi_document", tag = "server",
    responses((status = 200, description = "This document.", body = Object)))]
pub(super) async fn document() -> impl IntoResponse {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let text = DOCUMENT.get_or_init(|| serde_json::to_string(&openapi()).unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], text.as_str())
}
