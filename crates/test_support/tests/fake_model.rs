//! `fake_model` speaks the Messages API.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Response;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use test_support::fake_model::{Block, FakeModel, scenario_names, scripted_prompt};

async fn send(model: &FakeModel, body: &Value) -> Response<Incoming> {
    let address = model.base_url().strip_prefix("http://").unwrap();
    let connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(connection))
        .await
        .unwrap();
    tokio::spawn(driver);
    let request = hyper::Request::post("/v1/messages")
        .header("host", address)
        .header("x-api-key", "made-up")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    sender.send_request(request).await.unwrap()
}

fn prompt(text: &str) -> Value {
    json!({"model": "claude-opus-5-5", "stream": true, "messages": [{"role": "user", "content": text}]})
}

async fn text_of(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

async fn whole(model: &FakeModel, text: &str) -> Value {
    let mut request = prompt(text);
    request["stream"] = false.into();
    serde_json::from_str(&text_of(send(model, &request).await).await).unwrap()
}

#[tokio::test]
async fn a_streamed_answer_has_the_same_text_as_a_whole_one() {
    let model = FakeModel::start().await.unwrap();
    let response = send(&model, &prompt("SCENARIO:unicode")).await;
    assert_eq!(
        response.headers()["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let streamed = events(&text_of(response).await);
    assert_eq!(
        kinds(&streamed)[..3],
        ["message_start", "content_block_start", "ping"]
    );
    assert_eq!(
        kinds(&streamed)[streamed.len() - 3..],
        ["content_block_stop", "message_delta", "message_stop"]
    );
    let text: String = streamed
        .iter()
        .filter_map(|event| event["delta"]["text"].as_str())
        .collect();
    assert!(text.contains("漢字 🎉 \u{2028}"));
    assert_eq!(
        whole(&model, "SCENARIO:unicode").await["content"][0]["text"],
        text
    );
}

#[tokio::test]
async fn the_step_follows_from_the_conversation() {
    let model = FakeModel::start().await.unwrap();
    let call = whole(&model, "SCENARIO:bash").await;
    assert_eq!(call["stop_reason"], "tool_use");
    let request = json!({"model": "m", "messages": [
        {"role": "user", "content": "SCENARIO:bash"},
        {"role": "assistant", "content": call["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["content"][1]["id"]}]},
    ]});
    let end: Value = serde_json::from_str(&text_of(send(&model, &request).await).await).unwrap();
    assert_eq!(end["stop_reason"], "end_turn");
    let labels: Vec<String> = model
        .requests()
        .into_iter()
        .map(|request| request.label)
        .collect();
    assert_eq!(labels, ["bash[0]#1", "bash[1]#1"]);
}

#[tokio::test]
async fn a_scripted_prompt_says_what_it_was_told() {
    let model = FakeModel::start().await.unwrap();
    let call = Block::tool("Write", json!({"file_path": "{cwd}/a.txt"}));
    let mut request = prompt(&scripted_prompt(&[
        vec![Block::text("one"), call],
        vec![Block::text("two")],
    ]));
    request["system"] = "Primary working directory: /some/where\n".into();
    let streamed = events(&text_of(send(&model, &request).await).await);
    let input: String = streamed
        .iter()
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(input, r#"{"file_path":"/some/where/a.txt"}"#);
}

#[tokio::test]
async fn an_error_schedule_counts_attempts() {
    let model = FakeModel::start().await.unwrap();
    for expected in [529, 529, 200, 200] {
        assert_eq!(
            send(&model, &prompt("SCENARIO:flaky:529x2")).await.status(),
            expected
        );
    }
    let error: Value =
        serde_json::from_str(&text_of(send(&model, &prompt("SCENARIO:err429")).await).await).unwrap();
    assert_eq!(error["error"]["type"], "rate_limit_error");
}

#[tokio::test]
async fn a_gate_holds_the_stream_until_it_is_opened() {
    let model = FakeModel::start().await.unwrap();
    let mut body = send(&model, &prompt("SCENARIO:gate:one")).await.into_body();
    model.gate_reached("one").await;
    let mut early = Vec::new();
    while events(&String::from_utf8_lossy(&early)).len() < 6 {
        early.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    model.open_gate("one");
    let late = body.collect().await.unwrap().to_bytes();
    assert!(!String::from_utf8_lossy(&early).contains("message_stop"));
    assert!(String::from_utf8_lossy(&late).contains("message_stop"));
}

#[tokio::test]
async fn a_stream_can_break_in_the_middle() {
    let model = FakeModel::start().await.unwrap();
    let broken = events(&text_of(send(&model, &prompt("SCENARIO:midstreamerr")).await).await);
    assert_eq!(broken.last().unwrap()["type"], "error");
    assert!(
        send(&model, &prompt("SCENARIO:midstreamcut"))
            .await
            .into_body()
            .collect()
            .await
            .is_err()
    );
    assert!(
        text_of(send(&model, &prompt("SCENARIO:midstreamcut")).await)
            .await
            .contains("message_stop")
    );
}

#[tokio::test]
async fn requests_can_be_waited_for() {
    let model = FakeModel::start().await.unwrap();
    let body = prompt("SCENARIO:plain please");
    let (request, _) = tokio::join!(
        model.wait_for_request(|request| request.label.starts_with("plain")),
        send(&model, &body)
    );
    assert_eq!(request.header("x-api-key"), Some("made-up"));
    assert_eq!(request.user_texts(), ["SCENARIO:plain please"]);
}

#[tokio::test]
async fn every_scenario_answers_whole() {
    let model = FakeModel::start().await.unwrap();
    // One answers with a page, one lets the client wait for eight seconds.
    for name in scenario_names().filter(|name| !["errhtml", "slowfirst"].contains(name)) {
        let answer = whole(&model, &format!("SCENARIO:{name}")).await;
        let kind = answer["type"].as_str().unwrap_or_default();
        assert!(matches!(kind, "message" | "error"), "{name}: {answer}");
        assert_eq!(model.requests().last().unwrap().label, format!("{name}[0]#1"));
    }
}

#[tokio::test]
async fn nothing_listens_after_it_is_dropped() {
    let model = FakeModel::start().await.unwrap();
    let address = model.base_url().strip_prefix("http://").unwrap().to_owned();
    drop(model);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
