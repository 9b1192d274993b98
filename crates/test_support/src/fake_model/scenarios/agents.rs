//! Subagents, questions, plans, lists of tasks, structured output, and tools that come from elsewhere.

use super::table::Scenario;
use super::turn::{Turn, bash};
use crate::fake_model::message::{Answer, Block, Message};
use crate::fake_model::request;
use serde_json::json;

pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("ask", |turn| match turn.step {
        0 => [
            Block::text("I have a question."),
            Block::tool(
                "AskUserQuestion",
                json!({"questions": [{
                    "question": "Which color should the button be?",
                    "header": "Color",
                    "multiSelect": false,
                    "options": [
                        {"label": "Red", "description": "A red button"},
                        {"label": "Blue", "description": "A blue button"},
                    ],
                }]}),
            ),
        ]
        .into(),
        _ => [Block::text("Thanks for answering.")].into(),
    }),
    ("exitplan", |turn| match turn.step {
        0 => [
            Block::text("Here is my plan."),
            Block::tool("ExitPlanMode", json!({"plan": "1. Do it\n2. Test it"})),
        ]
        .into(),
        _ => [Block::text("Plan handled.")].into(),
    }),
    ("todo", todo),
    ("todotool", |turn| match turn.step {
        0 => [todo_write("in_progress", "pending")].into(),
        _ => [Block::text("Todos done.")].into(),
    }),
    ("subagent", |turn| match turn.step {
        0 => [
            Block::text("Delegating."),
            agent(turn, "Run a sub job", "please run", turn.argument == Some("bg")),
        ]
        .into(),
        1 => [Block::text("The subagent reported back.")].into(),
        _ => [Block::text("Noted the background agent's completion.")].into(),
    }),
    ("collab", collab),
    ("subagent2", |turn| match turn.step {
        0 => [
            Block::text("Delegating twice."),
            agent(turn, "Sub A", "A", false),
            agent(turn, "Sub B", "B", false),
        ]
        .into(),
        _ => [Block::text("Both subagents reported back.")].into(),
    }),
    ("subbash", |turn| match turn.step {
        0 => [
            Block::thinking("Subagent thinking."),
            Block::text("Subagent runs a command."),
            bash("echo from-subagent", "Echo from subagent"),
        ]
        .into(),
        _ => [Block::text("Subagent final report: it printed from-subagent.")].into(),
    }),
    ("suberr", |turn| {
        match turn.step {
        0 => [Block::tool(
            turn.agent_tool(),
            json!({"description": "Failing sub", "prompt": "SCENARIO:err400 please fail", "subagent_type": "general-purpose", "run_in_background": false}),
        )]
        .into(),
        _ => [Block::text("The subagent failed.")].into(),
    }
    }),
    ("subbad", |turn| match turn.step {
        0 => [Block::tool(
            turn.agent_tool(),
            json!({"description": "No such agent", "prompt": "x", "subagent_type": "no-such-agent"}),
        )]
        .into(),
        _ => [Block::text("No such agent.")].into(),
    }),
    ("structured", |turn| match turn.step {
        0 => [structured(json!({"name": "ralph", "count": 3}))].into(),
        _ => [Block::text("Structured output given.")].into(),
    }),
    ("structured_bad", |turn| match turn.step {
        0 => [structured(json!({"name": 5}))].into(),
        1 => [structured(json!({"name": "fixed", "count": 4}))].into(),
        _ => [Block::text("Structured output given after a retry.")].into(),
    }),
    ("structured_never", |_| {
        [Block::text("I will not use the tool.")].into()
    }),
    ("structured_alwaysbad", |_| {
        [structured(json!({"name": 5}))].into()
    }),
    ("skill", |turn| match turn.step {
        0 => [Block::tool("Skill", json!({"skill": turn.argument_or("demo")}))].into(),
        _ => [Block::text("Skill ran.")].into(),
    }),
    ("toolsearch", |turn| match turn.step {
        0 => [Block::tool(
            "ToolSearch",
            json!({"query": turn.argument_or("select:AskUserQuestion,TodoWrite"), "max_results": 5}),
        )]
        .into(),
        _ => [Block::text("Tools found.")].into(),
    }),
    ("mcp", |turn| match turn.step {
        0 => [Block::tool("mcp__fixture__echo", json!({"text": "hi mcp"}))].into(),
        _ => [Block::text("MCP answered.")].into(),
    }),
    ("bigmcp", |turn| match turn.step {
        0 => [Block::tool(
            "mcp__fixture__big",
            json!({"size": turn.number_or(2 << 20)}),
        )]
        .into(),
        _ => [Block::text("Got the big MCP result.")].into(),
    }),
    ("webfetch", |turn| match turn.step {
        0 => [Block::tool(
            "WebFetch",
            json!({"url": format!("{}/page.html", turn.base_url), "prompt": "What is the title?"}),
        )]
        .into(),
        _ => [Block::text("Fetched.")].into(),
    }),
    ("websearch", |turn| match turn.step {
        0 => [
            Block::text("Searching the web."),
            Block::tool("WebSearch", json!({"query": "SCENARIO:wsinner rust ndjson"})),
        ]
        .into(),
        _ => [Block::text("The search found something.")].into(),
    }),
    ("wsinner", web_search),
];

fn structured(output: serde_json::Value) -> Block {
    Block::tool("StructuredOutput", output)
}

fn agent(turn: &Turn<'_>, description: &str, task: &str, in_background: bool) -> Block {
    let prompt = format!("SCENARIO:subbash {task}");
    Block::tool(
        turn.agent_tool(),
        json!({"description": description, "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": in_background}),
    )
}

fn todo_write(first: &str, second: &str) -> Block {
    Block::tool(
        "TodoWrite",
        json!({"todos": [
            {"content": "First thing", "status": first, "activeForm": "Doing first thing"},
            {"content": "Second thing", "status": second, "activeForm": "Doing second thing"},
        ]}),
    )
}

/// A list of tasks, with the tools that this version offers for it.
fn todo(turn: &Turn<'_>) -> Answer {
    let update = |status: &str| Block::tool("TaskUpdate", json!({"taskId": "1", "status": status}));
    match (turn.offers("TodoWrite"), turn.step) {
        (true, 0) => [todo_write("in_progress", "pending")].into(),
        (true, 1) => [todo_write("completed", "completed")].into(),
        (true, _) => [Block::text("Todos done.")].into(),
        (false, 0) => [Block::tool(
            "TaskCreate",
            json!({"subject": "First thing", "description": "Do the first thing", "activeForm": "Doing first thing"}),
        )]
        .into(),
        (false, 1) => [update("in_progress")].into(),
        (false, 2) => [Block::tool("TaskList", json!({}))].into(),
        (false, 3) => [update("completed")].into(),
        (false, _) => [Block::text("Tasks done.")].into(),
    }
}

/// The request that the WebSearch tool makes on its own: answered with the API's own search blocks.
fn web_search(_turn: &Turn<'_>) -> Answer {
    let id = "srvtoolu_01websearch".to_owned();
    let hits = json!([{
        "type": "web_search_result",
        "title": "NDJSON",
        "url": "https://example.com/ndjson",
        "encrypted_content": "ZW5j",
        "page_age": "1 day ago",
    }]);
    let blocks = [
        Block::ServerToolUse {
            id: id.clone(),
            name: "web_search".to_owned(),
            input: json!({"query": "rust ndjson"}),
        },
        Block::WebSearchToolResult {
            tool_use_id: id,
            content: hits,
        },
        Block::text("NDJSON is newline delimited JSON."),
    ];
    Message {
        web_searches: 1,
        ..Message::new(blocks)
    }
    .into()
}

/// Codex's agents: starts one and waits for it, by the id that the CLI told.
fn collab(turn: &Turn<'_>) -> Answer {
    match turn.step {
        0 => [Block::tool("spawn_agent", json!({"message": "SCENARIO:plain"}))].into(),
        1 => {
            let targets: Vec<String> = request::agent_id(turn.request).into_iter().collect();
            [Block::tool(
                "wait_agent",
                json!({"targets": targets, "timeout_ms": 10_000}),
            )]
            .into()
        }
        _ => [Block::text("The other agent is done.")].into(),
    }
}
