//! `tells_of_sessions`: whether a batch may add a session to its run.

use crate::rows::Batch;

/// Records that may name a conversation.
const KINDS: [&str; 5] = [
    "session_started",
    "session_updated",
    "session_forked",
    "message_awaited",
    "attempt_ended",
];

/// Whether a batch may name a conversation that those before it did not. A long loop has hundreds, and most batches are
/// a few records.
pub(crate) fn tells_of_sessions(batch: &Batch) -> bool {
    let mut records = batch.records.iter();
    batch.start == 0 || records.any(|record| KINDS.contains(&record.kind.as_str()))
}

#[cfg(test)]
mod tests {
    use super::tells_of_sessions;
    use crate::fold::RunFold;

    #[test]
    fn whoever_names_a_conversation_is_among_the_kinds() {
        let lines = [
            (
                "run_started",
                r#"{"format_version":1,"run_id":"a","ralph_version":"0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}"#,
            ),
            ("session_started", r#"{"session_id":"1"}"#),
            ("text_block", r#"{"item":"i","text":"x","session_id":"no"}"#),
            ("session_updated", r#"{"session_id":"2"}"#),
            ("session_forked", r#"{"asked":"2","actual":"3"}"#),
            ("message_awaited", r#"{"session_id":"4"}"#),
            (
                "turn_finished",
                r#"{"number":1,"outcome":"succeeded","session_id":"no"}"#,
            ),
            (
                "attempt_ended",
                r#"{"outcome":"succeeded","exit":{},"totals":{},"session_id":"5"}"#,
            ),
            (
                "run_ended",
                r#"{"reason":"completed","exit_code":0,"iterations":1,"totals":{},"session_id":"no"}"#,
            ),
        ];
        let mut fold = RunFold::new();
        let mut known = 0;
        for (seq, (kind, data)) in (1..).zip(lines) {
            let agent = match kind {
                "session_started" | "session_updated" | "text_block" | "turn_finished" => {
                    r#""agent_kind":"demo","#
                }
                _ => "",
            };
            let line = format!(
                r#"{{"seq":{seq},"at":"2026-11-16T02:35:20Z","iteration":1,"attempt":1,"event":{{{agent}"type":"{kind}","data":{data}}}}}"#
            );
            fold.push(line.as_bytes());
            let batch = fold.take().unwrap();
            let now = batch.summary.session_ids.len();
            assert_eq!(tells_of_sessions(&batch), now > known || seq == 1, "{kind}");
            known = now;
        }
        assert_eq!(known, 5);
    }
}
