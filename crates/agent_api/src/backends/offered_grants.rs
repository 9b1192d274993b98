//! `OfferedGrants`: the grants that a request of an agent offers, each with what the agent is sent for it.

use serde_json::Value;

use crate::event::{Grant, GrantDestination, GrantId, GrantKind};

/// A longer line is not offered: it could not be shown as a whole.
const MAX_TEXT_BYTES: usize = 1_000;
/// Agents offer about three.
const MAX_GRANTS: usize = 16;

/// A backend adds the grants that it can express exactly, and keeps this with the open request.
#[derive(Debug, Default)]
pub(super) struct OfferedGrants {
    grants: Vec<(Grant, Value)>,
}

impl OfferedGrants {
    /// Offers what `payload` would grant. One that is too long to be shown is not offered, and none is offered twice.
    pub(super) fn offer(
        &mut self,
        kind: GrantKind,
        destination: GrantDestination,
        text: String,
        payload: Value,
    ) {
        let id = GrantId::of_payload(&payload.to_string());
        let is_known = self.grants.iter().any(|(grant, _)| grant.id == id);
        if is_known || text.len() > MAX_TEXT_BYTES || self.grants.len() >= MAX_GRANTS {
            return;
        }
        let grant = Grant {
            id,
            kind,
            destination,
            text,
        };
        self.grants.push((grant, payload));
        // Stable: within a kind the order is the agent's.
        self.grants.sort_by_key(|(grant, _)| grant.kind);
    }

    /// What people choose from, the narrowest first.
    pub(super) fn list(&self) -> Vec<Grant> {
        self.grants.iter().map(|(grant, _)| grant.clone()).collect()
    }

    /// What the agent is sent for these grants.
    ///
    /// # Errors
    /// When one of them is not offered.
    pub(super) fn payloads(&self, ids: &[GrantId]) -> Result<Vec<Value>, String> {
        let payload = |id: &GrantId| {
            let offered = self.grants.iter().find(|(grant, _)| grant.id == *id);
            let payload = offered.map(|(_, payload)| payload.clone());
            payload.ok_or_else(|| format!("the request does not offer the grant `{id}`"))
        };
        ids.iter().map(payload).collect()
    }

    /// What an agent is sent that takes one grant with an answer.
    ///
    /// # Errors
    /// When there is not exactly one, or it is not offered.
    #[cfg(any(feature = "acp", feature = "codex"))]
    pub(super) fn only_payload(&self, ids: &[GrantId]) -> Result<Value, String> {
        match <[Value; 1]>::try_from(self.payloads(ids)?) {
            Ok([payload]) => Ok(payload),
            Err(_) => Err("this agent takes one grant with an answer".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_GRANTS, MAX_TEXT_BYTES, OfferedGrants};
    use crate::event::{GrantDestination, GrantId, GrantKind};

    fn offer(offered: &mut OfferedGrants, kind: GrantKind, text: &str) {
        offered.offer(
            kind,
            GrantDestination::Session,
            text.to_owned(),
            json!({ "is": text }),
        );
    }

    fn texts(offered: &OfferedGrants) -> Vec<String> {
        offered.list().into_iter().map(|grant| grant.text).collect()
    }

    #[test]
    fn a_mode_is_the_last_choice_and_nothing_is_offered_twice() {
        let mut offered = OfferedGrants::default();
        offer(&mut offered, GrantKind::Mode, "mode");
        offer(&mut offered, GrantKind::Directory, "directory");
        offer(&mut offered, GrantKind::Rule, "rule 1");
        offer(&mut offered, GrantKind::Rule, "rule 2");
        offer(&mut offered, GrantKind::Rule, "rule 1");
        assert_eq!(texts(&offered), ["rule 1", "rule 2", "directory", "mode"]);
    }

    #[test]
    fn exactly_the_chosen_grants_are_sent() {
        let mut offered = OfferedGrants::default();
        offer(&mut offered, GrantKind::Rule, "a");
        offer(&mut offered, GrantKind::Mode, "b");
        let ids: Vec<GrantId> = offered.list().into_iter().map(|grant| grant.id).collect();
        assert_eq!(offered.payloads(&[]).unwrap(), Vec::<serde_json::Value>::new());
        assert_eq!(offered.payloads(&ids[1..]).unwrap(), [json!({"is": "b"})]);
        assert!(offered.payloads(&[GrantId::new("all")]).is_err());
    }

    #[test]
    fn what_cannot_be_shown_as_a_whole_is_not_offered() {
        let mut offered = OfferedGrants::default();
        offer(&mut offered, GrantKind::Rule, &"x".repeat(MAX_TEXT_BYTES + 1));
        assert!(texts(&offered).is_empty());
        for number in 0..100 {
            offer(&mut offered, GrantKind::Rule, &number.to_string());
        }
        assert_eq!(texts(&offered).len(), MAX_GRANTS);
    }
}
