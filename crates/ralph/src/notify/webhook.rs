//! `Webhook`: sends notifications to an address as signed POST requests.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::channel::Channel;
use super::notification::Notification;
use crate::settings::WebhookUrl;

/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The pauses before the second and the third try.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
const SIGNATURE_HEADER: &str = "X-Ralph-Signature";

pub(super) struct Webhook {
    url: WebhookUrl,
    secret: Option<Vec<u8>>,
    agent: Agent,
}

enum Attempt {
    Sent,
    /// Another try may help.
    Failed(String),
    Refused(String),
}

impl Webhook {
    pub(super) fn new(url: WebhookUrl, secret: Option<Vec<u8>>) -> Self {
        let tls = TlsConfig::builder().root_certs(root_certificates()).build();
        let config = Agent::config_builder()
            .timeout_global(Some(REQUEST_TIMEOUT))
            // Another address has not been configured.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("ralph/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        Self {
            url,
            secret,
            agent: config.new_agent(),
        }
    }

    fn post(&self, body: &[u8]) -> Attempt {
        let mut request = self
            .agent
            .post(&self.url.0)
            .header("Content-Type", "application/json");
        if let Some(secret) = &self.secret {
            let signature = signature(secret, Timestamp::now().as_second(), body);
            request = request.header(SIGNATURE_HEADER, signature);
        }
        match request.send(body) {
            Err(error) => Attempt::Failed(format!("{}: {}", host(&self.url.0), describe(&error))),
            Ok(response) => match response.status().as_u16() {
                200..300 => Attempt::Sent,
                code @ 300..400 => {
                    Attempt::Refused(format!("the server answered {code}; redirects are not followed"))
                }
                code @ (408 | 425 | 429 | 500..) => Attempt::Failed(format!("the server answered {code}")),
                code => Attempt::Refused(format!("the server answered {code}")),
            },
        }
    }
}

impl Channel for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn timeout(&self) -> Duration {
        RETRY_DELAYS
            .iter()
            .fold(REQUEST_TIMEOUT, |total, delay| total + *delay + REQUEST_TIMEOUT)
    }

    fn send(&mut self, notification: &Notification) -> Result<(), String> {
        let body = serde_json::to_vec(notification).map_err(|error| error.to_string())?;
        let mut delays = RETRY_DELAYS.iter();
        loop {
            match self.post(&body) {
                Attempt::Sent => return Ok(()),
                Attempt::Refused(why) => return Err(why),
                Attempt::Failed(why) => match delays.next() {
                    Some(delay) => thread::sleep(*delay),
                    None => return Err(format!("{why} ({} attempts)", RETRY_DELAYS.len() + 1)),
                },
            }
        }
    }
}

/// Host and port, without what may be secret.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no answer within {} seconds", REQUEST_TIMEOUT.as_secs()),
        ureq::Error::HostNotFound => "the host was not found".to_owned(),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
            io::ErrorKind::ConnectionReset => "the connection was reset".to_owned(),
            _ => {
                let text = error.to_string();
                text.split(" (os error").next().unwrap_or(&text).to_owned()
            }
        },
        other => other.to_string(),
    }
}

/// Those of the system, which may include a company's own; without any, those that browsers trust.
fn root_certificates() -> RootCerts {
    let system = rustls_native_certs::load_native_certs().certs;
    if system.is_empty() {
        return RootCerts::WebPki;
    }
    let system = system
        .iter()
        .map(|certificate| Certificate::from_der(certificate).to_owned());
    RootCerts::Specific(Arc::new(system.collect()))
}

/// The value of `X-Ralph-Signature`: HMAC-SHA256 over the time in seconds, a dot and the body.
pub fn signature(secret: &[u8], at: i64, body: &[u8]) -> String {
    // A key of any length is valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(format!("{at}.").as_bytes());
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={at},v1={hex}")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{describe, host, signature};

    #[test]
    fn a_failure_names_the_host_and_says_in_words_what_happened() {
        assert_eq!(
            host("https://name@example.com:8443/a?token=x"),
            "example.com:8443"
        );
        assert_eq!(host("http://127.0.0.1:9#x"), "127.0.0.1:9");
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(describe(&ureq::Error::Io(refused)), "the connection was refused");
        let unreachable = io::Error::from_raw_os_error(101);
        assert_eq!(describe(&ureq::Error::Io(unreachable)), "Network is unreachable");
    }

    #[test]
    fn a_signature_covers_time_and_body() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
        assert_eq!(
            signature(b"key", 1_700_000_000, br#"{"a":1}"#),
            "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03"
        );
    }
}
