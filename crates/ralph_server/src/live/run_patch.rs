//! `run_patch`: the fields of a run that have changed, for clients of the feed `runs` that keep the rest.

use ralph_store::RunSummary;
use serde::Serialize;
use serde_json::{Map, Value};

/// Serializes the fields that differ. The pattern names every field, so that a new one cannot be forgotten.
macro_rules! changed_fields {
    ($before:expr, $now:expr, $patch:expr, $($field:ident),+) => {{
        let RunSummary { id: _, totals: _, $($field),+ } = $now;
        $(
            if *$field != $before.$field {
                $patch.insert(stringify!($field).to_owned(), value_of($field));
            }
        )+
    }};
}

/// The `id` of a run and each field that is not as it was `before`, whole.
pub(super) fn run_patch(before: &RunSummary, now: &RunSummary) -> Map<String, Value> {
    let mut patch = Map::new();
    patch.insert("id".to_owned(), value_of(&now.id));
    changed_fields!(
        before,
        now,
        patch,
        epoch,
        kind,
        workspace,
        backend,
        display_name,
        model,
        mode,
        task,
        permission_mode,
        title,
        tags,
        started_at,
        ended_at,
        updated_at,
        activity,
        reason,
        exit_code,
        message,
        iteration,
        attempt,
        max_cost_micro_usd,
        context,
        session_ids,
        started_by,
        resumed_from,
        is_ephemeral,
        pending,
        errors,
        head_seq
    );
    if before.totals != now.totals {
        // It is written in another way than its type would be.
        let whole = serde_json::to_value(now).unwrap_or_default();
        patch.insert(
            "totals".to_owned(),
            whole.get("totals").cloned().unwrap_or_default(),
        );
    }
    patch
}

fn value_of(field: &impl Serialize) -> Value {
    serde_json::to_value(field).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ralph_store::RunSummary;
    use serde_json::{Value, json};

    use super::run_patch;

    fn run(changes: Value) -> RunSummary {
        let mut run = json!({
            "id": "r", "epoch": "e", "kind": "loop", "workspace": "/w", "backend": "demo", "display_name": "Demo",
            "title": "x", "started_at": "2026-11-16T00:00:00Z", "updated_at": "2026-11-16T00:00:01Z",
            "activity": {"state": "thinking"}, "iteration": 1, "attempt": 1, "totals": {},
            "session_ids": [], "pending": 0, "errors": 0, "head_seq": 9
        });
        for (name, value) in changes.as_object().unwrap() {
            run[name] = value.clone();
        }
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn a_patch_turns_what_was_into_what_is() {
        let before = run(json!({"reason": "completed", "context": {"used": 5}}));
        let now = run(json!({
            "epoch": "f", "kind": "session", "workspace": "/v", "backend": "b", "display_name": "B", "model": "m",
            "mode": "o", "task": "t", "permission_mode": "ask", "title": "y", "tags": ["a"],
            "started_at": "2026-11-17T00:00:00Z", "ended_at": "2026-11-17T00:00:00Z",
            "updated_at": "2026-11-17T00:00:00Z", "activity": {"state": "tool", "name": "Bash"}, "exit_code": 2,
            "message": "m", "iteration": 2, "attempt": 3, "totals": {"turns": 3, "cost_micro_usd": 7},
            "max_cost_micro_usd": 1, "session_ids": ["s"], "resumed_from": "q", "started_by": "token ci", "is_ephemeral": true, "pending": 1,
            "errors": 2, "head_seq": 10
        }));
        let mut patched = serde_json::to_value(&before).unwrap();
        let patch = run_patch(&before, &now);
        // Every field is another one.
        assert_eq!(patch.len(), patched.as_object().unwrap().len());
        patched.as_object_mut().unwrap().extend(patch);
        assert_eq!(patched, serde_json::to_value(&now).unwrap());
    }

    #[test]
    fn what_is_the_same_is_left_out() {
        let (before, now) = (run(json!({})), run(json!({"head_seq": 10})));
        assert_eq!(
            Value::from(run_patch(&before, &now)),
            json!({"id": "r", "head_seq": 10})
        );
    }
}
