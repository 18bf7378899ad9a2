//! The secret of a run: whoever knows it belongs to the run. It never travels; proofs of it do.

use crate::error::LinkError;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

/// 32 random bytes that the run hands to its ranks in their environment.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

/// Nobody prints it by accident.
impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// Which side proves something: a proof of one cannot be given back as that of the other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Agent,
    Daemon,
    /// The process that connects to another one of the same analysis, and the one that accepts.
    MeshCaller,
    MeshListener,
}

/// The transcript of both sides before a proof is given.
pub(crate) struct Exchange<'a> {
    pub(crate) listener_nonce: &'a [u8; 32],
    pub(crate) caller_nonce: &'a [u8; 32],
    pub(crate) identity: u128,
    pub(crate) text: &'a str,
}

pub(crate) fn nonce() -> Result<[u8; 32], LinkError> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| LinkError::Given("no random numbers from the system".into()))?;
    Ok(bytes)
}

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn draw() -> Result<Self, LinkError> {
        nonce().map(Self)
    }

    /// As text for an environment.
    #[must_use]
    pub fn to_text(&self) -> String {
        to_hex(&self.0)
    }

    /// From that text.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_text(text: &str) -> Result<Self, LinkError> {
        let bytes = from_hex(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes
            .map(Self)
            .ok_or_else(|| LinkError::Given("the secret of the run is not 64 hexadecimal digits".into()))
    }

    fn text_of(side: Side, exchange: &Exchange<'_>) -> Vec<u8> {
        let mut text: Vec<u8> = match side {
            Side::Agent => b"mpiscope agent 1".to_vec(),
            Side::Daemon => b"mpiscope daemon 1".to_vec(),
            Side::MeshCaller => b"mpiscope mesh caller 1".to_vec(),
            Side::MeshListener => b"mpiscope mesh listener 1".to_vec(),
        };
        text.extend(exchange.listener_nonce);
        text.extend(exchange.caller_nonce);
        text.extend(exchange.identity.to_le_bytes());
        text.extend(exchange.text.as_bytes());
        text
    }

    pub(crate) fn prove(&self, side: Side, exchange: &Exchange<'_>) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::sign(&key, &Self::text_of(side, exchange)).as_ref().to_vec()
    }

    pub(crate) fn is_proved(&self, side: Side, exchange: &Exchange<'_>, proof: &[u8]) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::verify(&key, &Self::text_of(side, exchange), proof).is_ok()
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_own_exchange_alone() {
        let secret = Secret::draw().unwrap();
        let (one, two) = (nonce().unwrap(), nonce().unwrap());
        let exchange = Exchange { listener_nonce: &one, caller_nonce: &two, identity: 1, text: "n" };
        let proof = secret.prove(Side::Agent, &exchange);
        assert!(secret.is_proved(Side::Agent, &exchange, &proof));
        for side in [Side::Daemon, Side::MeshCaller, Side::MeshListener] {
            assert!(!secret.is_proved(side, &exchange, &proof));
        }
        for other in [
            Exchange { listener_nonce: &two, ..exchange },
            Exchange { caller_nonce: &one, ..exchange },
            Exchange { identity: 2, ..exchange },
            Exchange { text: "m", ..exchange },
        ] {
            assert!(!secret.is_proved(Side::Agent, &other, &proof));
        }
        assert!(!Secret::draw().unwrap().is_proved(Side::Agent, &exchange, &proof));
        assert!(!secret.is_proved(Side::Agent, &exchange, &[]));
    }

    #[test]
    fn text_goes_there_and_back() {
        let secret = Secret::draw().unwrap();
        assert_eq!(Secret::from_text(&secret.to_text()).unwrap(), secret);
        for wrong in ["", "ab", "zz", &"a".repeat(63), &"a".repeat(66)] {
            assert!(Secret::from_text(wrong).is_err());
        }
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }
}
