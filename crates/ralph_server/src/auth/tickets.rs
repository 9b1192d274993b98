//! `Tickets`: one-time secrets that open one live stream, because a browser cannot send a header with a WebSocket.

use std::time::Duration;

use jiff::Timestamp;

use super::error::AuthError;
use super::principal::Principal;
use super::secret::{Digest, new_secret, same, sha256};

/// Long enough for the request that follows, on a slow line.
pub(super) const TICKET_LIFETIME: Duration = Duration::from_secs(30);
/// At most this many tickets of one token wait, those of its login sessions included. The oldest makes room for a new
/// one.
const MAX_TICKETS_OF_TOKEN: usize = 32;
/// At most this many wait in all. The token that has most of them loses its oldest one to make room.
const MAX_TICKETS: usize = 256;

#[derive(Debug)]
struct Ticket {
    digest: Digest,
    expires_at: Timestamp,
    principal: Principal,
}

/// Tickets that were not used yet. They are in memory only.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    tickets: Vec<Ticket>,
}

impl Tickets {
    /// A ticket for whoever has shown a token or a session. It works once, for 30 seconds.
    pub(super) fn issue(
        &mut self,
        principal: &Principal,
        now: Timestamp,
    ) -> Result<(String, Timestamp), AuthError> {
        self.tickets
            .retain(|ticket| ticket.expires_at > now && !ticket.principal.guard.is_over());
        if self.count(&principal.issuer) >= MAX_TICKETS_OF_TOKEN {
            self.remove_oldest(principal.issuer);
        } else if self.tickets.len() >= MAX_TICKETS {
            let issuers = self.tickets.iter().map(|ticket| ticket.principal.issuer);
            if let Some(greediest) = issuers.max_by_key(|issuer| self.count(issuer)) {
                self.remove_oldest(greediest);
            }
        }
        let secret = new_secret()?;
        let expires_at = now.saturating_add(TICKET_LIFETIME).unwrap_or(now);
        self.tickets.push(Ticket {
            digest: sha256(secret.as_bytes()),
            expires_at,
            principal: Principal {
                is_by_ticket: true,
                ..principal.clone()
            },
        });
        Ok((secret, expires_at))
    }

    fn count(&self, issuer: &Digest) -> usize {
        let is_theirs = |ticket: &&Ticket| ticket.principal.issuer == *issuer;
        self.tickets.iter().filter(is_theirs).count()
    }

    fn remove_oldest(&mut self, issuer: Digest) {
        let oldest = self
            .tickets
            .iter()
            .position(|ticket| ticket.principal.issuer == issuer);
        if let Some(oldest) = oldest {
            self.tickets.remove(oldest);
        }
    }

    /// Whoever the ticket was issued to. It is used up by that.
    pub(super) fn redeem(&mut self, ticket: &str, now: Timestamp) -> Option<Principal> {
        let digest = sha256(ticket.as_bytes());
        let found = self
            .tickets
            .iter()
            .position(|ticket| same(&ticket.digest, &digest))?;
        let ticket = self.tickets.remove(found);
        let is_valid = ticket.expires_at > now && !ticket.principal.guard.is_over();
        is_valid.then_some(ticket.principal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::super::lifetime::Lifetime;
    use super::super::principal::{Credential, Principal, Scope};
    use super::{MAX_TICKETS, MAX_TICKETS_OF_TOKEN, Tickets};
    use jiff::{SignedDuration, Timestamp};

    /// A login session of a token.
    fn principal(lifetime: &Lifetime, token: u8, session: usize) -> Principal {
        Principal {
            credential: Credential::Session(format!("{token}-{session}")),
            scope: Scope::Read,
            workspaces: None,
            limits: Default::default(),
            server_limits: Default::default(),
            guard: lifetime.guard(Clock::new()),
            issuer: [token; 32],
            is_by_ticket: false,
        }
    }

    #[test]
    fn a_ticket_works_once_for_thirty_seconds_and_only_as_long_as_what_it_was_issued_to() {
        let now = Timestamp::now();
        let second = SignedDuration::from_secs(1);
        let lifetime = Lifetime::until(None);
        let mut tickets = Tickets::default();
        let issue = |tickets: &mut Tickets| tickets.issue(&principal(&lifetime, 1, 0), now).unwrap().0;
        let ticket = issue(&mut tickets);
        let found = tickets.redeem(&ticket, now + second * 29).unwrap();
        assert!(found.is_by_ticket && found.scope == Scope::Read);
        assert!(tickets.redeem(&ticket, now).is_none());
        let late = issue(&mut tickets);
        assert!(tickets.redeem(&late, now + second * 30).is_none());
        let revoked = issue(&mut tickets);
        drop(lifetime);
        assert!(tickets.redeem(&revoked, now).is_none());
    }

    #[test]
    fn the_sessions_of_one_token_cannot_use_up_the_tickets_of_others() {
        let now = Timestamp::now();
        let lifetime = Lifetime::until(None);
        let mut tickets = Tickets::default();
        let (other, _) = tickets.issue(&principal(&lifetime, 1, 0), now).unwrap();
        for number in 0..1_000 {
            tickets.issue(&principal(&lifetime, 2, number % 16), now).unwrap();
        }
        assert_eq!(tickets.tickets.len(), MAX_TICKETS_OF_TOKEN + 1);
        assert!(tickets.redeem(&other, now).is_some());
    }

    #[test]
    fn many_tokens_at_once_take_room_from_the_one_that_has_most() {
        let now = Timestamp::now();
        let lifetime = Lifetime::until(None);
        let mut tickets = Tickets::default();
        let (first, _) = tickets.issue(&principal(&lifetime, 0, 0), now).unwrap();
        for token in 1..=20 {
            for number in 0..MAX_TICKETS_OF_TOKEN {
                tickets.issue(&principal(&lifetime, token, number), now).unwrap();
            }
        }
        assert_eq!(tickets.tickets.len(), MAX_TICKETS);
        assert!(tickets.redeem(&first, now).is_some());
    }
}
