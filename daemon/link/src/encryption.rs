//! Encryption between hosts: the run makes a certificate of its own, and agents trust that one alone.

use crate::error::LinkError;
use crate::secret::{from_hex, to_hex};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The name in the certificate. Hosts are found by address; what counts is the key.
const NAME: &str = "mpiscope";

/// The run's certificate with its private key.
#[derive(Clone, Serialize, Deserialize)]
pub struct Certificate {
    /// What agents are given.
    public: String,
    /// What stays with the daemon.
    private: String,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Certificate(..)")
    }
}

fn fault(error: impl std::fmt::Display) -> LinkError {
    LinkError::Encryption(error.to_string())
}

fn bytes(text: &str) -> Result<Vec<u8>, LinkError> {
    from_hex(text).ok_or_else(|| LinkError::Given("a certificate is not made of hexadecimal digits".into()))
}

impl Certificate {
    /// A new one, self-signed.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn make() -> Result<Self, LinkError> {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(fault)?;
        Ok(Self { public: to_hex(made.cert.der()), private: to_hex(&made.signing_key.serialize_der()) })
    }

    /// What agents are given to know the daemon by, as text for an environment.
    #[must_use]
    pub fn public(&self) -> &str {
        &self.public
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Both ends of an encrypted or a plain connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// The daemon's side.
pub(crate) struct Accepting(Option<TlsAcceptor>);

impl Accepting {
    pub(crate) fn new(certificate: Option<&Certificate>) -> Result<Self, LinkError> {
        let Some(certificate) = certificate else { return Ok(Self(None)) };
        let chain = vec![CertificateDer::from(bytes(&certificate.public)?)];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(bytes(&certificate.private)?));
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(fault)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(fault)?;
        Ok(Self(Some(TlsAcceptor::from(Arc::new(config)))))
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> Result<Box<dyn Stream>, LinkError> {
        Ok(match &self.0 {
            Some(acceptor) => Box::new(acceptor.accept(stream).await?),
            None => Box::new(stream),
        })
    }
}

/// The agent's side.
pub(crate) struct Connecting(Option<TlsConnector>);

impl Connecting {
    /// With the text of the daemon's certificate; without, nothing is encrypted.
    pub(crate) fn new(certificate: Option<&str>) -> Result<Self, LinkError> {
        let Some(certificate) = certificate else { return Ok(Self(None)) };
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(bytes(certificate)?)).map_err(fault)?;
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(fault)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Some(TlsConnector::from(Arc::new(config)))))
    }

    pub(crate) async fn connect(&self, stream: TcpStream) -> Result<Box<dyn Stream>, LinkError> {
        let Some(connector) = &self.0 else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(NAME).map_err(fault)?;
        Ok(Box::new(connector.connect(name, stream).await?))
    }
}
