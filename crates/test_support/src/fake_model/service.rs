//! One HTTP exchange.

use super::apis::Api;
use super::events::{Action, Identity};
use super::gate::Gates;
use super::message::{Answer, ApiError, Block, Incident, Message};
use super::request::{self, RecordedRequest};
use super::scenarios::{self, Turn};
use super::tools;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Between the last byte and a late cut: long enough for the client to have read.
const LATE: Duration = Duration::from_millis(250);

/// What all connections share.
pub(super) struct Service {
    pub(super) base_url: String,
    pub(super) gates: Gates,
    pub(super) requests: watch::Sender<Vec<RecordedRequest>>,
    attempts: Mutex<HashMap<String, u32>>,
    salt: u32,
    ids: AtomicU64,
}

type ResponseBody = http_body_util::combinators::BoxBody<Bytes, io::Error>;

impl Service {
    pub(super) fn new(base_url: String, salt: u32) -> Self {
        Self {
            base_url,
            gates: Gates::default(),
            requests: watch::Sender::new(Vec::new()),
            attempts: Mutex::default(),
            salt,
            ids: AtomicU64::new(0),
        }
    }

    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> io::Result<Response<ResponseBody>> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let path = parts.uri.path().to_owned();
        let mut record = RecordedRequest {
            number: 0,
            method: parts.method.to_string(),
            path: parts
                .uri
                .path_and_query()
                .map(ToString::to_string)
                .unwrap_or_default(),
            headers: parts
                .headers
                .iter()
                .map(|(name, value)| {
                    (
                        name.to_string(),
                        String::from_utf8_lossy(value.as_bytes()).into_owned(),
                    )
                })
                .collect(),
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            label: String::new(),
        };
        if let Some(control) = path.strip_prefix("/fake/") {
            return self.control(control).await;
        }
        if let Some(api) = Api::of(&path).filter(|_| parts.method == Method::POST) {
            return self.message(api, record, &path).await;
        }
        match (&parts.method, path.as_str()) {
            (&Method::POST, "/v1/messages/count_tokens") => {
                self.record(record);
                json_response(
                    StatusCode::OK,
                    &[],
                    &json!({"input_tokens": (bytes.len() / 4).max(1)}).to_string(),
                )
            }
            (&Method::POST, path) if path.ends_with(":countTokens") => {
                self.record(record);
                json_response(
                    StatusCode::OK,
                    &[],
                    &json!({"totalTokens": (bytes.len() / 4).max(1)}).to_string(),
                )
            }
            (&Method::HEAD, _) => {
                self.record(record);
                json_response(StatusCode::OK, &[], "")
            }
            (&Method::GET, "/page.html") => {
                self.record(record);
                let page =
                    "<html><head><title>Fixture page</title></head><body><h1>Fixture</h1></body></html>";
                response(StatusCode::OK, "text/html", &[], page)
            }
            _ => {
                record.label = "not found".to_owned();
                self.record(record);
                let error =
                    json!({"type": "error", "error": {"type": "not_found_error", "message": "not found"}});
                json_response(StatusCode::NOT_FOUND, &[], &error.to_string())
            }
        }
    }

    /// For those who run the server as a process of its own.
    async fn control(&self, path: &str) -> io::Result<Response<ResponseBody>> {
        let labels = || -> Vec<String> {
            self.requests
                .borrow()
                .iter()
                .map(|request| request.label.clone())
                .collect()
        };
        match path.split('/').collect::<Vec<_>>().as_slice() {
            ["gates", name, "open"] => self.gates.open(name),
            ["gates", name, "reached"] => self.gates.reached(name).await,
            ["requests"] => return json_response(StatusCode::OK, &[], &json!(labels()).to_string()),
            _ => return json_response(StatusCode::NOT_FOUND, &[], "{}"),
        }
        json_response(StatusCode::OK, &[], "{}")
    }

    async fn message(
        self: Arc<Self>,
        api: Api,
        mut record: RecordedRequest,
        path: &str,
    ) -> io::Result<Response<ResponseBody>> {
        if let Some(answer) = api.structured_answer(&record.body) {
            record.label = "structured".to_owned();
            self.record(record);
            return json_response(StatusCode::OK, &[], &answer);
        }
        let body = record.body.clone();
        let conversation = api.conversation(&body, path);
        let (label, answer) = if api != Api::Messages && !offers_tools(&conversation) {
            ("aside".to_owned(), [Block::text("OK")].into())
        } else {
            self.choose(&conversation)
        };
        record.label = label;
        let model = conversation["model"].as_str().unwrap_or_default().to_owned();
        let streams = conversation["stream"] == true;
        let directory = request::working_directory(&conversation);
        self.record(record);
        let mut message = match answer {
            Answer::Error(error) => return error_response(api, &error, &self.next_id("req")),
            Answer::Message(message) => message,
        };
        tools::translate(&mut message.blocks, &tool_names(&conversation), &directory);
        self.give_ids(&mut message);
        tokio::time::sleep(message.delay).await;
        let message_id = self.next_id("msg");
        let identity = Identity {
            message_id: &message_id,
            model: &model,
            directory: &directory,
        };
        let mut headers = message.headers.clone();
        headers.push(("request-id", self.next_id("req")));
        if !streams {
            return json_response(StatusCode::OK, &headers, &api.whole(&message, &identity));
        }
        let actions = api.stream(&message, &identity, &body);
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move { self.play(actions, sender).await });
        let mut builder = Response::builder()
            .header("content-type", "text/event-stream; charset=utf-8")
            .header("cache-control", "no-cache");
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        builder.body(Events(receiver).boxed()).map_err(io::Error::other)
    }

    /// Sends the events; a client that goes away ends it, whatever it waits for.
    async fn play(&self, actions: Vec<Action>, sender: mpsc::Sender<io::Result<Bytes>>) {
        for action in actions {
            let wait = async {
                match action {
                    Action::Send(event) => return Some(Ok(Bytes::from(event))),
                    Action::Pause(pause) => tokio::time::sleep(pause).await,
                    Action::Incident(Incident::Gate(name)) => self.gates.pass(&name).await,
                    Action::Incident(Incident::LateCut) => {
                        tokio::time::sleep(LATE).await;
                        return Some(Err(io::ErrorKind::ConnectionReset.into()));
                    }
                    Action::Incident(Incident::Cut | Incident::Error | Incident::End) => {
                        return Some(Err(io::ErrorKind::ConnectionReset.into()));
                    }
                }
                None
            };
            let next = tokio::select! {
                next = wait => next,
                () = sender.closed() => return,
            };
            let Some(next) = next else { continue };
            let is_cut = next.is_err();
            if sender.send(next).await.is_err() || is_cut {
                return;
            }
        }
    }

    /// The label for the log, and what to say.
    fn choose(&self, request: &Value) -> (String, Answer) {
        let last = request::last_user_message(request);
        if last.contains("create a detailed summary") && last.contains("conversation") {
            let summary = "<analysis>Short.</analysis>\n<summary>\n1. The user runs fake scenarios.\n2. Pending tasks: none.\n</summary>";
            return ("compact".to_owned(), [Block::text(summary)].into());
        }
        let tag = request::find_tag(request);
        let system = request["system"].to_string().to_lowercase();
        if !offers_tools(request) && system.contains("title") && system.contains("session") {
            return (
                "title".to_owned(),
                [Block::text(r#"{"title": "Fake session title"}"#)].into(),
            );
        }
        let Some(tag) = tag else {
            return ("none".to_owned(), [Block::text("No scenario named. OK.")].into());
        };
        let Some(scenario) = scenarios::find(&tag.name) else {
            return (
                format!("unknown:{}", tag.name),
                [Block::text(format!("Unknown scenario {}.", tag.name))].into(),
            );
        };
        let session = request["metadata"]["user_id"].to_string();
        let key = format!(
            "{} {:?} {:?} {} {session}",
            tag.name, tag.argument, tag.nonce, tag.step
        );
        let attempt = {
            let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
            let attempt = attempts.entry(key).or_default();
            *attempt += 1;
            *attempt
        };
        let directory = request::working_directory(request);
        let turn = Turn {
            step: tag.step,
            argument: tag.argument.as_deref(),
            attempt,
            directory: &directory,
            request,
            base_url: &self.base_url,
        };
        (format!("{}[{}]#{attempt}", tag.name, tag.step), scenario(&turn))
    }

    fn record(&self, mut record: RecordedRequest) {
        self.requests.send_modify(|requests| {
            record.number = requests.len() + 1;
            requests.push(record);
        });
    }

    fn give_ids(&self, message: &mut Message) {
        for block in &mut message.blocks {
            if let Block::ToolUse { id, .. } = block
                && id.is_empty()
            {
                *id = self.next_id("toolu");
            }
        }
    }

    /// Counted, so that the same conversation has the same ids; salted, so that two servers' ids differ.
    fn next_id(&self, prefix: &str) -> String {
        format!(
            "{prefix}_01{:08x}{:014x}",
            self.salt,
            self.ids.fetch_add(1, Ordering::Relaxed) + 1
        )
    }
}

/// A body fed by a task.
struct Events(mpsc::Receiver<io::Result<Bytes>>);

impl Body for Events {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0
            .poll_recv(context)
            .map(|next| next.map(|event| event.map(Frame::data)))
    }
}

fn offers_tools(request: &Value) -> bool {
    request["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

fn tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

fn error_response(api: Api, error: &ApiError, request_id: &str) -> io::Result<Response<ResponseBody>> {
    let status = StatusCode::from_u16(error.status).map_err(io::Error::other)?;
    if let Some(page) = error.page {
        return response(status, "text/html", &error.headers, page);
    }
    let body = api.error(error, request_id);
    let mut headers = error.headers.clone();
    headers.push(("request-id", request_id.to_owned()));
    json_response(status, &headers, &body)
}

fn json_response(
    status: StatusCode,
    headers: &[(&'static str, String)],
    body: &str,
) -> io::Result<Response<ResponseBody>> {
    response(status, "application/json", headers, body)
}

fn response(
    status: StatusCode,
    content_type: &str,
    headers: &[(&'static str, String)],
    body: &str,
) -> io::Result<Response<ResponseBody>> {
    let mut builder = Response::builder()
        .status(status)
        .header("content-type", content_type);
    for (name, value) in headers {
        builder = builder.header(*name, value);
    }
    let body = Full::new(Bytes::from(body.to_owned()))
        .map_err(|never| match never {})
        .boxed();
    builder.body(body).map_err(io::Error::other)
}
