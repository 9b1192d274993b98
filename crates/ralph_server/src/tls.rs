//! `Tls`: the server's certificate and key, read from files and read again when they change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::file_stamp::FileStamp;

/// How often the files are looked at, at most. A connection that arrives looks.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Where certificate and key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that lead to its root, in PEM.
    pub certificate: PathBuf,
    /// The private key, in PEM.
    pub key: PathBuf,
}

/// The certificate and key in use.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    acceptor: Arc<ServerConfig>,
    stamps: Stamps,
    /// The files that could not be used, so that each change of them is logged once.
    refused: Option<Stamps>,
    looked_at: Instant,
}

type Stamps = [Option<FileStamp>; 2];

/// Why a certificate or key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}; check the path of `{flag}` and its permissions", path.display())]
    Unreadable {
        /// Which flag named it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no certificate in the file.
    #[error("there is no PEM certificate in `{}`: `--tls-cert` needs a file with `-----BEGIN CERTIFICATE-----`", .0.display())]
    NoCertificate(PathBuf),
    /// There is no key in the file.
    #[error("there is no PEM private key in `{}`: `--tls-key` needs a file with `-----BEGIN PRIVATE KEY-----`", .0.display())]
    NoKey(PathBuf),
    /// The key needs a passphrase.
    #[error("the key in `{}` is encrypted: decrypt it first, as with `openssl pkey -in KEY -out NEW_KEY`", .0.display())]
    EncryptedKey(PathBuf),
    /// The certificate is of another key.
    #[error("the key in `{}` does not belong to the certificate in `{}`: give the pair that was issued together", .0.key.display(), .0.certificate.display())]
    Mismatch(TlsFiles),
    /// The certificate's time is over.
    #[error("the certificate in `{}` expired at {at}: renew it, then start the server again", path.display())]
    Expired {
        /// The file.
        path: PathBuf,
        /// When.
        at: Timestamp,
    },
    /// The certificate's time has not begun.
    #[error("the certificate in `{}` is not valid before {at}: check this machine's clock, or wait", path.display())]
    NotYetValid {
        /// The file.
        path: PathBuf,
        /// When it begins.
        at: Timestamp,
    },
    /// Something else is wrong with them.
    #[error("cannot use the certificate in `{}` with the key in `{}`: {reason}", files.certificate.display(), files.key.display())]
    Unusable {
        /// The files.
        files: TlsFiles,
        /// What is wrong.
        reason: String,
    },
}

impl Tls {
    /// Reads certificate and key, and checks that they can be used now.
    ///
    /// # Errors
    /// If a file cannot be read or holds something else, the key is another one's, or the certificate is not valid now.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        // Before they are read, so that a change meanwhile is noticed.
        let stamps = stamps(&files);
        let current = Current {
            acceptor: Arc::new(read(&files, Timestamp::now())?),
            stamps,
            refused: None,
            looked_at: Instant::now(),
        };
        Ok(Self {
            files,
            current: Mutex::new(current),
        })
    }

    /// Accepts connections with the newest certificate that can be used.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked_at.elapsed() >= REFRESH_INTERVAL {
            current.looked_at = Instant::now();
            self.refresh(&mut current);
        }
        TlsAcceptor::from(Arc::clone(&current.acceptor))
    }

    /// A renewal that is half written, wrong or cannot be read changes nothing, and is tried again.
    fn refresh(&self, current: &mut Current) {
        let stamps = stamps(&self.files);
        if stamps == current.stamps {
            return;
        }
        match read(&self.files, Timestamp::now()) {
            Ok(config) => {
                current.acceptor = Arc::new(config);
                (current.stamps, current.refused) = (stamps, None);
                tracing::info!("the TLS certificate was renewed");
            }
            Err(error) => {
                if current.refused.as_ref() != Some(&stamps) {
                    tracing::warn!(%error, "cannot use the new TLS certificate; the old one stays in use");
                }
                current.refused = Some(stamps);
            }
        }
    }
}

fn stamps(files: &TlsFiles) -> Stamps {
    [&files.certificate, &files.key].map(|path| FileStamp::of_target(path))
}

fn read(files: &TlsFiles, now: Timestamp) -> Result<ServerConfig, TlsError> {
    let chain = read_chain(&files.certificate)?;
    let key = read_key(&files.key)?;
    let unusable = |reason: String| TlsError::Unusable {
        files: files.clone(),
        reason,
    };
    let Some(own) = chain.first() else {
        return Err(TlsError::NoCertificate(files.certificate.clone()));
    };
    let (_, parsed) =
        x509_parser::parse_x509_certificate(own).map_err(|error| unusable(error.to_string()))?;
    let validity = parsed.validity();
    let moment = |seconds: i64| Timestamp::from_second(seconds).map_err(|error| unusable(error.to_string()));
    let (begins, ends) = (
        moment(validity.not_before.timestamp())?,
        moment(validity.not_after.timestamp())?,
    );
    let path = files.certificate.clone();
    if now > ends {
        return Err(TlsError::Expired { path, at: ends });
    }
    if now < begins {
        return Err(TlsError::NotYetValid { path, at: begins });
    }
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::Mismatch(files.clone()),
            error => unusable(error.to_string()),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read_file("--tls-cert", path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    chain.map_err(|_| TlsError::NoCertificate(path.to_owned()))
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let pem = read_file("--tls-key", path)?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        let is_encrypted = String::from_utf8_lossy(&pem).contains("ENCRYPTED");
        match is_encrypted {
            true => TlsError::EncryptedKey(path.to_owned()),
            false => TlsError::NoKey(path.to_owned()),
        }
    })
}

fn read_file(flag: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable {
        flag,
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::{Tls, TlsError, TlsFiles, read};
    use jiff::{SignedDuration, Timestamp};
    use tempfile::TempDir;

    fn write_pair(directory: &TempDir, name: &str) -> TlsFiles {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = TlsFiles {
            certificate: directory.path().join(format!("{name}.crt")),
            key: directory.path().join(format!("{name}.key")),
        };
        std::fs::write(&files.certificate, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        files
    }

    #[test]
    fn each_mistake_has_a_message_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let (good, other) = (write_pair(&directory, "a"), write_pair(&directory, "b"));
        Tls::load(good.clone()).unwrap();
        let load = |certificate: &std::path::Path, key: &std::path::Path| {
            let files = TlsFiles {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
            };
            Tls::load(files).unwrap_err()
        };
        assert!(matches!(
            load(&good.certificate, &other.key),
            TlsError::Mismatch(_)
        ));
        assert!(matches!(load(&good.key, &good.key), TlsError::NoCertificate(_)));
        assert!(matches!(
            load(&good.certificate, &good.certificate),
            TlsError::NoKey(_)
        ));
        let absent = directory.path().join("absent");
        assert!(matches!(
            load(&absent, &good.key),
            TlsError::Unreadable {
                flag: "--tls-cert",
                ..
            }
        ));
        assert!(matches!(
            load(&good.certificate, &absent),
            TlsError::Unreadable {
                flag: "--tls-key",
                ..
            }
        ));
        let odd = directory.path().join("odd");
        std::fs::write(&odd, [0x30, 0x82, 0, 1, 0xff]).unwrap();
        assert!(matches!(load(&odd, &good.key), TlsError::NoCertificate(_)));
        std::fs::write(
            &odd,
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        )
        .unwrap();
        assert!(matches!(load(&odd, &good.key), TlsError::Unusable { .. }));
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        std::fs::write(&odd, encrypted).unwrap();
        assert!(matches!(load(&good.certificate, &odd), TlsError::EncryptedKey(_)));
    }

    #[test]
    fn a_certificate_is_used_only_while_it_is_valid() {
        let directory = tempfile::tempdir().unwrap();
        let files = write_pair(&directory, "a");
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2026, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2026, 2, 1);
        let made = parameters.self_signed(&key).unwrap();
        std::fs::write(&files.certificate, made.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        let begins: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let second = SignedDuration::from_secs(1);
        let early = read(&files, begins - second).unwrap_err();
        assert!(matches!(early, TlsError::NotYetValid { at, .. } if at == begins));
        read(&files, begins).unwrap();
        let ends: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        read(&files, ends).unwrap();
        let late = read(&files, ends + second).unwrap_err();
        assert!(
            late.to_string().contains("expired at 2026-02-01T00:00:00Z"),
            "{late}"
        );
    }

    #[test]
    fn a_renewed_pair_is_used_and_a_broken_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let files = write_pair(&directory, "a");
        let tls = Tls::load(files.clone()).unwrap();
        let refresh = || {
            let current = &mut *tls.current.lock().unwrap();
            tls.refresh(current);
            std::sync::Arc::clone(&current.acceptor)
        };
        let first = refresh();
        std::fs::write(&files.certificate, "half").unwrap();
        assert!(std::sync::Arc::ptr_eq(&first, &refresh()));
        write_pair(&directory, "a");
        assert!(!std::sync::Arc::ptr_eq(&first, &refresh()));
    }
}
