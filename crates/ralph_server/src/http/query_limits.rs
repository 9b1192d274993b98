//! `QueryLimiter`: how many expensive queries of the index run at once, of all clients and of one token, so that a token
//! cannot keep the index busy for everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::auth::Principal;
use crate::problem::Problem;

/// The index reads with four connections in SQLite and eight in PostgreSQL: some stay free for lists.
const COSTS: (usize, usize) = (2, 1);
const SEARCHES: (usize, usize) = (4, 2);

/// Queries of one kind.
#[derive(Debug, Clone)]
pub(super) struct QueryLimiter {
    all: Arc<Semaphore>,
    max_of_one: usize,
    /// By the digest of the token that they go back to.
    of_each: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// Held while a query runs.
#[derive(Debug)]
struct QueryPermit {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl QueryLimiter {
    /// For sums over all usage.
    pub(super) fn of_costs() -> Self {
        Self::new(COSTS)
    }

    /// For searches.
    pub(super) fn of_searches() -> Self {
        Self::new(SEARCHES)
    }

    fn new((max, max_of_one): (usize, usize)) -> Self {
        Self {
            all: Arc::new(Semaphore::new(max)),
            max_of_one,
            of_each: Arc::default(),
        }
    }

    /// Waits until a query of this token may run.
    async fn acquire(&self, token: &str) -> Result<QueryPermit, AcquireError> {
        // The own one first: whoever waits for it takes nothing from others.
        let own = self.of(token).acquire_owned().await?;
        Ok(QueryPermit {
            _all: Arc::clone(&self.all).acquire_owned().await?,
            _own: own,
        })
    }

    fn of(&self, token: &str) -> Arc<Semaphore> {
        let mut of_each = self.of_each.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody uses or waits for.
        of_each.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        let semaphore = of_each.entry(token.to_owned());
        Arc::clone(semaphore.or_insert_with(|| Arc::new(Semaphore::new(self.max_of_one))))
    }
}

/// Runs a request once its token may ask another query.
pub(super) async fn limit_queries(
    State(limiter): State<QueryLimiter>,
    request: Request,
    next: Next,
) -> Response {
    let token = request.extensions().get().map(Principal::issuer_hex);
    let permit = match limiter.acquire(&token.unwrap_or_default()).await {
        Ok(permit) => permit,
        Err(error) => return Problem::internal("queries are not limited any more", &error).into_response(),
    };
    // A client that leaves does not end its query in the index, so the query keeps its permit.
    let answered = tokio::spawn(async move {
        let _permit = permit;
        next.run(request).await
    });
    answered
        .await
        .unwrap_or_else(|error| Problem::internal("a query failed", &error).into_response())
}

#[cfg(test)]
mod tests {
    use super::QueryLimiter;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_token_that_asks_all_the_time_leaves_room_for_others() {
        let limiter = QueryLimiter::new((2, 1));
        let greedy = limiter.acquire("greedy").await.unwrap();
        let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(limiter.acquire("greedy"))).collect();
        for query in &mut waiting {
            assert!(query.as_mut().now_or_never().is_none());
        }
        let owner = limiter.acquire("owner").now_or_never().unwrap().unwrap();
        assert!(limiter.acquire("third").now_or_never().is_none());
        drop(greedy);
        let next = waiting.remove(0).await.unwrap();
        drop((waiting, owner, next));
        assert!(limiter.acquire("third").now_or_never().unwrap().is_ok());
        assert_eq!(limiter.of_each.lock().unwrap().len(), 1);
    }
}
