//! `fake_model` speaks the APIs of other vendors, and a scenario is the same in all of them.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use test_support::fake_model::{Block, FakeModel, scripted_prompt};

const GEMINI: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

/// Status and text; what was not cut off.
async fn post(model: &FakeModel, path: &str, body: &Value) -> (u16, String) {
    let address = model.base_url().strip_prefix("http://").unwrap();
    let connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(connection))
        .await
        .unwrap();
    tokio::spawn(driver);
    let request = hyper::Request::post(path)
        .header("host", address)
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        bytes.extend_from_slice(&frame.into_data().unwrap());
    }
    (status, String::from_utf8(bytes).unwrap())
}

async fn events(model: &FakeModel, path: &str, body: &Value) -> Vec<Value> {
    let (status, text) = post(model, path, body).await;
    assert_eq!(status, 200, "{text}");
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn responses(prompt: &str) -> Value {
    json!({"model": "gpt-5.5", "stream": true, "prompt_cache_key": "one",
        "tools": [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"},
            {"type": "namespace", "name": "mcp__fixture", "tools": [{"type": "function", "name": "echo"}]}],
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<cwd>/some/where</cwd>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}]})
}

fn chat(prompt: &str) -> Value {
    json!({"model": "scripted-model", "stream": true, "tools": [{"type": "function", "function": {"name": "edit"}}],
        "messages": [{"role": "system", "content": "SCENARIO:no"}, {"role": "user", "content": [
            {"type": "text", "text": "I'm currently working in the directory: /some/where\nHere"},
            {"type": "text", "text": prompt}]}]})
}

fn gemini(prompt: &str) -> Value {
    json!({"tools": [{"functionDeclarations": [{"name": "read_file"}]}],
        "contents": [{"role": "user", "parts": [{"text": "- **Workspace Directories:**\n  - /some/where\n"}, {"text": prompt}]}]})
}

fn joined(events: &[Value], pointer: &str) -> String {
    events
        .iter()
        .filter_map(|event| event.pointer(pointer)?.as_str())
        .collect()
}

const GREETING: &str = "Hello from the fake model. This is a plain answer.";

#[tokio::test]
async fn an_answer_is_the_same_text_in_every_api_and_costs_the_same() {
    let model = FakeModel::start().await.unwrap();

    let answer = events(&model, "/v1/responses", &responses("SCENARIO:plain")).await;
    assert_eq!(joined(&answer, "/delta"), GREETING);
    let end = answer.last().unwrap();
    assert_eq!(end["type"], "response.completed");
    assert_eq!(end["response"]["output"][0]["content"][0]["text"], GREETING);
    let usage = &end["response"]["usage"];
    assert_eq!(
        (
            &usage["input_tokens"],
            &usage["input_tokens_details"]["cached_tokens"]
        ),
        (&json!(1200), &json!(1000))
    );
    assert_eq!(
        (
            &usage["output_tokens"],
            &usage["output_tokens_details"]["reasoning_tokens"]
        ),
        (&json!(34), &json!(10))
    );

    let answer = events(&model, "/v1/chat/completions", &chat("SCENARIO:plain")).await;
    assert_eq!(joined(&answer, "/choices/0/delta/content"), GREETING);
    assert_eq!(joined(&answer, "/choices/0/finish_reason"), "stop");
    assert_eq!(answer.last().unwrap()["usage"]["prompt_tokens"], 1200);

    let answer = events(&model, GEMINI, &gemini("SCENARIO:plain")).await;
    assert_eq!(joined(&answer, "/candidates/0/content/parts/0/text"), GREETING);
    assert_eq!(joined(&answer, "/candidates/0/finishReason"), "STOP");
    assert_eq!(answer.last().unwrap()["usageMetadata"]["promptTokenCount"], 1200);
}

#[tokio::test]
async fn the_step_follows_from_the_conversation_in_every_api() {
    let model = FakeModel::start().await.unwrap();
    let mut request = responses("SCENARIO:bash");
    let items = json!([{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": []},
        {"type": "function_call", "name": "x"}, {"type": "function_call", "name": "y"},
        {"type": "function_call_output", "output": "z"}, {"type": "function_call_output", "output": "z"}]);
    request["input"]
        .as_array_mut()
        .unwrap()
        .extend(items.as_array().unwrap().clone());
    post(&model, "/v1/responses", &request).await;

    let mut request = chat("SCENARIO:bash");
    let messages =
        json!([{"role": "assistant", "content": null, "tool_calls": [{}]}, {"role": "tool", "content": "z"}]);
    request["messages"]
        .as_array_mut()
        .unwrap()
        .extend(messages.as_array().unwrap().clone());
    post(&model, "/v1/chat/completions", &request).await;

    let mut request = gemini("SCENARIO:bash");
    let contents = json!([{"role": "model", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {}}}]}]);
    request["contents"]
        .as_array_mut()
        .unwrap()
        .extend(contents.as_array().unwrap().clone());
    post(&model, GEMINI, &request).await;

    let labels: Vec<String> = model
        .requests()
        .into_iter()
        .map(|request| request.label)
        .collect();
    assert_eq!(labels, ["bash[1]#1", "bash[1]#1", "bash[1]#2"]);
}

#[tokio::test]
async fn a_tool_call_has_the_shape_that_the_tool_was_offered_in() {
    let model = FakeModel::start().await.unwrap();
    let prompt = scripted_prompt(&[vec![
        Block::tool("exec_command", json!({"cmd": "ls {cwd}"})),
        Block::tool("apply_patch", json!({"input": "*** Begin Patch"})),
        Block::tool("echo", json!({"text": "hi"})),
    ]]);
    let answer = events(&model, "/v1/responses", &responses(&prompt)).await;
    let output = &answer.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["type"], "function_call");
    assert_eq!(output[0]["arguments"], r#"{"cmd":"ls /some/where"}"#);
    assert_eq!(
        (&output[1]["type"], &output[1]["input"]),
        (&json!("custom_tool_call"), &json!("*** Begin Patch"))
    );
    assert_eq!(
        (&output[2]["name"], &output[2]["namespace"]),
        (&json!("echo"), &json!("mcp__fixture"))
    );

    let prompt = scripted_prompt(&[vec![Block::tool("edit", json!({"file_path": "{cwd}/a"}))]]);
    let answer = events(&model, "/v1/chat/completions", &chat(&prompt)).await;
    assert_eq!(
        joined(&answer, "/choices/0/delta/tool_calls/0/function/arguments"),
        r#"{"file_path":"/some/where/a"}"#
    );
    assert_eq!(joined(&answer, "/choices/0/finish_reason"), "tool_calls");

    let answer = events(&model, GEMINI, &gemini(&prompt)).await;
    let calls: Vec<&Value> = answer
        .iter()
        .filter_map(|event| event.pointer("/candidates/0/content/parts/0/functionCall"))
        .collect();
    assert_eq!(
        calls,
        [&json!({"name": "edit", "args": {"file_path": "/some/where/a"}})]
    );
}

#[tokio::test]
async fn thoughts_are_told_from_words_in_every_api() {
    let model = FakeModel::start().await.unwrap();
    let prompt = scripted_prompt(&[vec![Block::thinking("Hm."), Block::text("Yes.")]]);
    let answer = events(&model, "/v1/responses", &responses(&prompt)).await;
    let output = &answer.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["summary"][0]["text"], "Hm.");
    assert_eq!(output[1]["content"][0]["text"], "Yes.");
    let answer = events(&model, "/v1/chat/completions", &chat(&prompt)).await;
    assert_eq!(joined(&answer, "/choices/0/delta/reasoning_content"), "Hm.");
    let answer = events(&model, GEMINI, &gemini(&prompt)).await;
    assert_eq!(
        answer[0]["candidates"][0]["content"]["parts"][0],
        json!({"text": "Hm.", "thought": true})
    );
}

#[tokio::test]
async fn errors_have_the_shape_of_their_api() {
    let model = FakeModel::start().await.unwrap();
    let (status, text) = post(&model, "/v1/responses", &responses("SCENARIO:err401")).await;
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (status, &error["error"]["type"]),
        (401, &json!("authentication_error"))
    );
    let (status, text) = post(&model, GEMINI, &gemini("SCENARIO:err429")).await;
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (status, &error["error"]["status"]),
        (429, &json!("RESOURCE_EXHAUSTED"))
    );
}

#[tokio::test]
async fn a_stream_can_break_off_in_every_api() {
    let model = FakeModel::start().await.unwrap();
    let requests = [
        (
            "/v1/responses",
            responses("SCENARIO:alwaysendsearly"),
            "response.completed",
        ),
        ("/v1/chat/completions", chat("SCENARIO:alwayscut"), "[DONE]"),
        (GEMINI, gemini("SCENARIO:alwayscut"), "finishReason"),
    ];
    for (path, body, end) in requests {
        let (_, text) = post(&model, path, &body).await;
        assert!(text.contains("s slowly") && !text.contains(end), "{path}: {text}");
    }
}

#[tokio::test]
async fn what_a_cli_asks_on_its_own_behalf_is_no_part_of_the_scenario() {
    let model = FakeModel::start().await.unwrap();
    for scenario in ["bash", "err401", "gate:never"] {
        let mut request = chat(&format!("SCENARIO:{scenario}"));
        request["tools"] = json!([]);
        request["stream"] = false.into();
        let (_, text) = post(&model, "/v1/chat/completions", &request).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            answer["choices"][0]["message"],
            json!({"role": "assistant", "content": "OK"}),
            "{scenario}"
        );
    }
    assert!(model.requests().iter().all(|request| request.label == "aside"));

    let mut request = gemini("SCENARIO:plain");
    request["generationConfig"] = json!({"responseJsonSchema": {"properties": {
        "next_speaker": {"type": "string", "enum": ["user", "model"]}, "is_sure": {"type": "boolean"}}}});
    let (_, text) = post(
        &model,
        "/v1beta/models/gemini-2.5-flash:generateContent",
        &request,
    )
    .await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    let inner = answer["candidates"][0]["content"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(inner).unwrap(),
        json!({"next_speaker": "user", "is_sure": false})
    );
    let (status, _) = post(&model, "/v1beta/models/gemini-2.5-pro:countTokens", &request).await;
    assert_eq!(status, 200);
}

/// The call that a chat completion makes of this block, if the agent has these tools.
async fn called(block: Block, tools: &[&str]) -> (String, Value) {
    let model = FakeModel::start().await.unwrap();
    let mut request = chat(&scripted_prompt(&[vec![block]]));
    let tools = tools
        .iter()
        .map(|name| json!({"type": "function", "function": {"name": name}}));
    request["tools"] = tools.collect();
    request["stream"] = false.into();
    let (_, text) = post(&model, "/v1/chat/completions", &request).await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    let input = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    (call["name"].as_str().unwrap().to_owned(), input)
}

#[tokio::test]
async fn a_neutral_call_becomes_one_of_the_tool_that_the_agent_offers() {
    let shell = || Block::shell("ls");
    let (name, input) = called(shell(), &["read", "bash"]).await;
    assert_eq!((name.as_str(), &input["command"]), ("bash", &json!("ls")));
    let (name, input) = called(shell(), &["run_shell_command"]).await;
    assert_eq!(
        (name.as_str(), &input["command"]),
        ("run_shell_command", &json!("ls"))
    );
    let (name, input) = called(shell(), &["exec_command"]).await;
    assert_eq!((name.as_str(), &input["cmd"]), ("exec_command", &json!("ls")));

    let edit = || Block::edit("a.txt", "old", "new");
    let (name, input) = called(edit(), &["write", "edit"]).await;
    assert_eq!(name, "edit");
    assert_eq!(
        input,
        json!({"filePath": "/some/where/a.txt", "oldString": "old", "newString": "new"})
    );
    let (name, input) = called(edit(), &["create", "edit"]).await;
    assert_eq!(name, "edit");
    assert_eq!(
        input,
        json!({"path": "/some/where/a.txt", "old_str": "old", "new_str": "new"})
    );
    let (name, input) = called(edit(), &["apply_patch"]).await;
    assert_eq!(name, "apply_patch");
    assert_eq!(
        input["input"],
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n"
    );

    let write = || Block::write("a.txt", "one\ntwo\n");
    let (name, input) = called(write(), &["create"]).await;
    assert_eq!(
        (name.as_str(), input),
        (
            "create",
            json!({"path": "/some/where/a.txt", "file_text": "one\ntwo\n"})
        )
    );
}
