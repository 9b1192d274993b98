//! `Webhook`: sends notifications to an address as signed POST requests.

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
            Err(error) => Attempt::Failed(error.to_string()),
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
                    None => return Err(why),
                },
            }
        }
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
    use super::signature;

    #[test]
    fn a_signature_covers_time_and_body() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key
        assert_eq!(
            signature(b"key", 1_700_000_000, br#"{"a":1}"#),
            "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03"
        );
    }
}
