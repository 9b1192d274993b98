//! `future_journal`: a run as a newer version of ralph might write it. Readers of journals are tested with it.

/// The id of the run in [`future_journal`].
pub const FUTURE_RUN: &str = "20261116-030000-0f0f0f";

/// A journal with kinds, words and fields that no version knows today.
#[must_use]
pub fn future_journal(format_version: u32) -> String {
    let events = [
        format!(
            r#"{{"type":"run_started","data":{{"format_version":{format_version},"run_id":"{FUTURE_RUN}","ralph_version":"9.0.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":5,"kind":"swarm","planet":"Mars"}}}}"#
        ),
        r#"{"type":"iteration_started","data":{"number":1,"prompt":"Repair it.","weather":"fine"}}"#.to_owned(),
        r#"{"type":"attempt_started","data":{"number":1,"pid":7,"raw_log":"raw/1.ndjson","program":"demo"}}"#.to_owned(),
        r#"{"agent_kind":"demo","type":"session_started","data":{"session_id":"s-1","mood":"good"}}"#.to_owned(),
        r#"{"type":"sandbox_entered","data":{"z":1.50,"a":[1, 2]}}"#.to_owned(),
        r#"{"agent_kind":"demo","raw":{"line":2,"offset":0,"length":3},"type":"dream","data":{"of":"electric sheep"}}"#.to_owned(),
        r#"{"agent_kind":"demo","type":"text_block","data":{"item":"m/0","text":"All is well.","tone":"calm"}}"#.to_owned(),
        r#"{"type":"warned","data":{"kind":"agent_loops","message":"The agent repeats itself.","certainty":0.9}}"#.to_owned(),
        r#"{"type":"command_received","data":{"command_id":"c","command":"teleport","mode":"sideways"}}"#.to_owned(),
        r#"{"type":"attempt_ended","data":{"outcome":"transcended","exit":{"code":0,"signal":null,"was_stopped":false},"totals":{"tokens":{"input":10,"output":5},"cost":2000,"turns":1,"duration_ms":5,"joules":3},"session_id":"s-1"}}"#.to_owned(),
        r#"{"type":"iteration_ended","data":{"number":1,"outcome":"handed_over","totals":{"tokens":{},"cost":2000,"turns":1,"duration_ms":5}}}"#.to_owned(),
        r#"{"type":"run_ended","data":{"reason":{"limit":"energy"},"exit_code":2,"message":"The battery is empty.","iterations":1,"totals":{"tokens":{"input":10,"output":5},"cost":2000,"turns":1,"duration_ms":5},"successor":null}}"#.to_owned(),
    ];
    let lines = events.iter().zip(1..).map(|(event, seq)| {
        format!(
            r#"{{"seq":{seq},"at":"2026-11-16T03:00:{seq:02}Z","iteration":1,"attempt":1,"event":{event},"signature":"x"}}"#
        ) + "\n"
    });
    lines.collect()
}

/// The `run.json` that belongs to [`future_journal`].
#[must_use]
pub fn future_run_file() -> String {
    format!(
        r#"{{"version":1,"run_id":"{FUTURE_RUN}","workspace":"/w","backend":"demo","display_name":"Demo","session_ids":["s-1"],"kind":"swarm","prompt":"Repair it.","started_at":"2026-11-16T03:00:01Z","ended_at":"2026-11-16T03:00:12Z","status":{{"state":"ended","iteration":1,"attempt":1,"totals":{{"cost":2000}}}},"reason":{{"limit":"energy"}},"exit_code":2,"runner":{{"pid":0,"start_time":0,"boot_id":""}},"ralph_version":"9.0.0","planet":"Mars"}}"#
    )
}
