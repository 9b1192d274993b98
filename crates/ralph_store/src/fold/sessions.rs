//! Which batches tell of conversations.

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
            ("run_started", r#"{"run_id":"a"}"#),
            ("session_started", r#"{"session_id":"1"}"#),
            ("text_block", r#"{"item":"i","text":"x","session_id":"no"}"#),
            ("session_updated", r#"{"session_id":"2"}"#),
            ("session_forked", r#"{"actual":"3"}"#),
            ("message_awaited", r#"{"session_id":"4"}"#),
            ("turn_finished", r#"{"session_id":"no"}"#),
            ("attempt_ended", r#"{"session_id":"5"}"#),
            ("run_ended", r#"{"session_id":"no"}"#),
        ];
        let mut fold = RunFold::new();
        let mut known = 0;
        for (seq, (kind, data)) in (1..).zip(lines) {
            fold.push(format!(r#"{{"seq":{seq},"at":"2026-11-16T02:35:20Z","iteration":1,"attempt":1,"event":{{"type":"{kind}","data":{data}}}}}"#).as_bytes());
            let batch = fold.take().unwrap();
            let now = batch.summary.session_ids.len();
            assert_eq!(tells_of_sessions(&batch), now > known || seq == 1, "{kind}");
            known = now;
        }
        assert_eq!(known, 5);
    }
}
