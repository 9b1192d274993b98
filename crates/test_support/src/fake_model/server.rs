use super::request::RecordedRequest;
use super::service::Service;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;
use tokio::sync::oneshot;

/// A running server; dropping it ends it and cuts its connections.
///
/// It has a thread and a runtime of its own: a test that blocks does not stop it.
pub struct FakeModel {
    service: Arc<Service>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl FakeModel {
    /// Starts on a free port of 127.0.0.1.
    pub async fn start() -> io::Result<Self> {
        Self::start_blocking(0, None)
    }

    /// The same, for those who are not in an async function or want a certain port or certain ids: ids are counted, with
    /// the salt in front.
    pub fn start_blocking(port: u16, salt: Option<u32>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let service = Arc::new(Service::new(base_url, salt.unwrap_or_else(random)));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let serving = Arc::clone(&service);
        let thread = thread::Builder::new()
            .name("fake_model".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        // Only ends when it cannot accept any more, which the clients will notice.
                        _ = serve(listener, serving) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Self {
            service,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// `http://127.0.0.1:<port>`, for `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.service.base_url
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.service.requests.borrow().clone()
    }

    /// Waits for a request that matches; it may already be there.
    pub async fn wait_for_request(&self, matches: impl Fn(&RecordedRequest) -> bool) -> RecordedRequest {
        let mut requests = self.service.requests.subscribe();
        loop {
            let found = requests
                .borrow_and_update()
                .iter()
                .find(|request| matches(request))
                .cloned();
            if let Some(request) = found {
                return request;
            }
            // The sender is in `self`, so that there is always a next change to wait for.
            let _ = requests.changed().await;
        }
    }

    /// Lets the model go on that waits, or will wait, at this gate.
    pub fn open_gate(&self, name: &str) {
        self.service.gates.open(name);
    }

    /// Waits until the model waits at this gate.
    pub async fn gate_reached(&self, name: &str) {
        self.service.gates.reached(name).await;
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // Its runtime, with all connections, is gone afterwards.
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, service: Arc<Service>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (connection, _) = listener.accept().await?;
        // Small events must leave at once.
        connection.set_nodelay(true)?;
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answer = service_fn(move |request| Arc::clone(&service).answer(request));
            // A client that goes away is its own business.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(connection), answer)
                .await;
        });
    }
}

fn random() -> u32 {
    let hash = RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap_or_default()
}
