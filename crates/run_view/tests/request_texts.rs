//! How commands are shown to the person who decides about them. The page has the same cases, with its own escapes.

use agent_api::{Json, PermissionRequested, RequestId, ToolKind};
use run_view::RequestDetail;
use serde_json::{Value, json};

#[test]
fn commands_are_shown_with_nothing_hidden() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("request_texts.json")).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let mut asked = PermissionRequested::new(RequestId::new("p"), "Bash", ToolKind::Execute);
        asked.input = Json::from_text(json!({"command": case["command"]}).to_string()).ok();
        let detail = RequestDetail::in_full(&asked);
        let rows: Vec<&str> = detail.rows.iter().map(|row| row.text.as_str()).collect();
        let name = &case["name"];
        assert_eq!(case["terminal"], rows.join("\n"), "{name}");
        assert_eq!(case["lines"], detail.lines, "{name}");
    }
}
