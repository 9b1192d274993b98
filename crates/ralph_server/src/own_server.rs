//! `connect`: TLS to the server of the same user on this machine, for `Running`.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

/// Begins TLS with whatever certificate the server has. Its certificate names a host, not this machine's own address;
/// that it is the user's server is known from the lock it holds in the state directory.
pub(crate) async fn connect(stream: TcpStream, address: IpAddr) -> io::Result<TlsStream<TcpStream>> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(OwnServer { provider }))
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::IpAddress(address.into()), stream)
        .await
}

#[derive(Debug)]
struct OwnServer {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OwnServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let supported = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, supported)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let supported = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, supported)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
