//! A server with a certificate: who speaks TLS is answered as over plain HTTP, who does not is told so.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use ralph_server::http::ServeOptions;
use ralph_server::{Tls, TlsFiles};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::client::{Answer, parse, send_raw};
use crate::stage::Stage;

struct Secure {
    stage: Stage,
    root: CertificateDer<'static>,
    directory: TempDir,
}

fn write_pair(directory: &TempDir) -> (TlsFiles, CertificateDer<'static>) {
    let names = ["localhost".to_owned(), "ralph.example".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let files = TlsFiles {
        certificate: directory.path().join("server.crt"),
        key: directory.path().join("server.key"),
    };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (files, made.cert.der().clone())
}

impl Secure {
    async fn with(options: ServeOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (files, root) = write_pair(&directory);
        let options = ServeOptions {
            tls: Some(Arc::new(Tls::load(files).unwrap())),
            ..options
        };
        Self {
            stage: Stage::with(options).await,
            root,
            directory,
        }
    }

    async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.stage.address).await.unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(ServerName::try_from("localhost").unwrap(), stream)
            .await
    }

    async fn ask(&self, host: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let request = self.stage.request("GET", path, headers, "");
        let request = String::from_utf8(request).unwrap();
        let request = request.replace(&self.stage.address.to_string(), host);
        let exchange = async {
            let mut stream = self.connect().await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
            answer
        };
        parse(&timeout(Duration::from_secs(20), exchange).await.unwrap())
    }
}

#[tokio::test]
async fn requests_over_tls_pass_the_same_checks_with_https_origins() {
    let secure = Secure::with(ServeOptions::default()).await;
    let (address, bearer) = (secure.stage.address.to_string(), secure.stage.bearer());
    let runs = "/api/v1/runs";
    let own = format!("https://{address}");
    let headers = [("authorization", bearer.as_str()), ("origin", own.as_str())];
    let answer = secure.ask(&address, runs, &headers).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let year = Some("max-age=31536000");
    assert_eq!(answer.header("strict-transport-security"), year);
    let plain = format!("http://{address}");
    let headers = [("authorization", bearer.as_str()), ("origin", plain.as_str())];
    let answer = secure.ask(&address, runs, &headers).await;
    assert_eq!(answer.problem(), (403, "foreign_origin".into()));
    let answer = secure.ask("evil.example", runs, &[]).await;
    assert_eq!(answer.problem(), (421, "foreign_host".into()));
    assert_eq!(secure.ask(&address, runs, &[]).await.status, 401);
    // Every port of localhost would become https in the browser.
    let localhost = format!("localhost:{}", secure.stage.address.port());
    let answer = secure.ask(&localhost, "/health", &[]).await;
    assert_eq!(
        (answer.status, answer.header("strict-transport-security")),
        (200, None)
    );
    let url = secure.stage.app.auth.login_url().unwrap();
    assert!(url.starts_with(&format!("{own}/login#code=")), "{url}");
}

#[tokio::test]
async fn a_websocket_opens_over_tls() {
    let secure = Secure::with(ServeOptions::default()).await;
    let address = format!("ws://{}/api/v1/stream", secure.stage.address);
    let mut request = address.into_client_request().unwrap();
    let bearer = secure.stage.bearer().parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let stream = secure.connect().await.unwrap();
    let (mut socket, _) = client_async(request, stream).await.unwrap();
    let hello = timeout(Duration::from_secs(10), socket.next()).await.unwrap();
    assert!(hello.unwrap().unwrap().to_text().unwrap().contains("hello"));
}

#[tokio::test]
async fn plain_http_is_told_to_use_https() {
    let secure = Secure::with(ServeOptions::default()).await;
    let request = secure.stage.request("GET", "/health", &[], "");
    let answer = send_raw(secure.stage.address, &request).await;
    assert_eq!(answer.problem(), (400, "tls_required".into()));
    assert!(answer.text().contains("https://"));
    assert_eq!(answer.header("strict-transport-security"), None);
}

/// Reads until the server closes.
async fn closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    let _ = read.unwrap();
}

#[tokio::test]
async fn a_handshake_that_is_not_completed_has_a_deadline() {
    let options = ServeOptions {
        header_timeout: Duration::from_millis(200),
        ..ServeOptions::default()
    };
    let secure = Secure::with(options).await;
    let mut silent = TcpStream::connect(secure.stage.address).await.unwrap();
    let mut half = TcpStream::connect(secure.stage.address).await.unwrap();
    // The head of a record of 512 bytes, and nothing of the record.
    half.write_all(&[0x16, 3, 1, 2, 0, 1]).await.unwrap();
    let mut odd = TcpStream::connect(secure.stage.address).await.unwrap();
    odd.write_all(&[0x16, 3, 1, 0, 4, 9, 9, 9, 9]).await.unwrap();
    for stream in [&mut silent, &mut half, &mut odd] {
        closed(stream).await;
    }
    let address = secure.stage.address.to_string();
    assert_eq!(secure.ask(&address, "/health", &[]).await.status, 200);
}

#[tokio::test]
async fn handshakes_that_hang_make_room_for_new_clients_and_for_the_end() {
    let options = ServeOptions {
        max_strangers: 2,
        header_timeout: Duration::from_secs(600),
        shutdown_timeout: Duration::from_secs(600),
        ..ServeOptions::default()
    };
    let mut secure = Secure::with(options).await;
    let mut hanging = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(secure.stage.address).await.unwrap();
        stream.write_all(&[0x16, 3, 1]).await.unwrap();
        hanging.push(stream);
    }
    let address = secure.stage.address.to_string();
    assert_eq!(secure.ask(&address, "/health", &[]).await.status, 200);
    closed(&mut hanging[0]).await;
    secure.stage.stop();
    let ended = timeout(Duration::from_secs(10), &mut secure.stage.serving).await;
    ended.unwrap().unwrap();
}

#[tokio::test]
async fn a_renewed_certificate_is_used_without_a_restart() {
    let mut secure = Secure::with(ServeOptions::default()).await;
    secure.connect().await.unwrap();
    let (_, renewed) = write_pair(&secure.directory);
    secure.root = renewed;
    let noticed = async { while secure.connect().await.is_err() {} };
    timeout(Duration::from_secs(20), noticed).await.unwrap();
}
