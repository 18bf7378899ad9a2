//! How two sides prove to each other that they know the secret, on each connection before anything else.

use crate::encryption::{Accepting, Connecting, Stream};
use crate::error::LinkError;
use crate::packet::{MOST_OF_STRANGERS, hear_any, say};
use crate::secret::{Exchange, Secret, Side, nonce};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// A kind of connections. A proof on one of them is worth nothing on others.
pub(crate) struct Kind {
    pub(crate) caller: Side,
    pub(crate) listener: Side,
    /// The version of their protocol.
    pub(crate) protocol: u32,
    /// What the other side is not if it speaks another one.
    pub(crate) is_no_caller: &'static str,
    pub(crate) is_no_listener: &'static str,
}

/// How a caller introduces itself.
pub(crate) trait Introduction: Clone + Serialize + DeserializeOwned {
    /// What it calls for.
    const KIND: Kind;
    /// What it learns when it is let in.
    type Answer: Serialize + DeserializeOwned;

    /// What a proof holds for.
    fn transcript(&self) -> (u128, String);

    /// Whether it keeps within its bounds.
    fn is_sound(&self) -> bool {
        true
    }
}

/// The packets before a connection is used.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
enum Greeting<I: Introduction> {
    /// The listener speaks first: a number used once, which the answer has to hold.
    Challenge { protocol: u32, nonce: [u8; 32] },
    /// The caller introduces itself with its proof, and asks for the same proof.
    Hello {
        protocol: u32,
        introduction: I,
        nonce: [u8; 32],
        #[serde(with = "serde_bytes")]
        proof: Vec<u8>,
    },
    /// The listener's proof.
    Welcome {
        answer: I::Answer,
        #[serde(with = "serde_bytes")]
        proof: Vec<u8>,
    },
    /// The listener does not want this caller.
    Refused { why: String },
}

/// Introduces the caller, and asks for the same proof. Returns the answer with the connection.
pub(crate) async fn greet<I: Introduction>(
    stream: TcpStream,
    connecting: &Connecting,
    secret: &Secret,
    introduction: &I,
) -> Result<(Box<dyn Stream>, I::Answer), LinkError> {
    let Kind { caller, listener, protocol: own, is_no_listener, .. } = I::KIND;
    stream.set_nodelay(true)?;
    let mut stream = connecting.connect(stream).await?;
    let Greeting::<I>::Challenge { protocol, nonce: listener_nonce } =
        hear_any(&mut stream, MOST_OF_STRANGERS).await?
    else {
        return Err(LinkError::Protocol(is_no_listener));
    };
    if protocol != own {
        return Err(LinkError::Refused(format!("it speaks version {protocol}, this side {own}")));
    }
    let caller_nonce = nonce()?;
    let (identity, text) = introduction.transcript();
    let exchange =
        Exchange { listener_nonce: &listener_nonce, caller_nonce: &caller_nonce, identity, text: &text };
    let hello = Greeting::Hello {
        protocol,
        introduction: introduction.clone(),
        nonce: caller_nonce,
        proof: secret.prove(caller, &exchange),
    };
    say(&mut stream, &hello).await?;
    match hear_any::<Greeting<I>>(&mut stream, MOST_OF_STRANGERS).await? {
        Greeting::Welcome { answer, proof } if secret.is_proved(listener, &exchange, &proof) => {
            Ok((stream, answer))
        }
        Greeting::Welcome { .. } => Err(LinkError::Stranger),
        Greeting::Refused { why } => Err(LinkError::Refused(why)),
        _ => Err(LinkError::Protocol(is_no_listener)),
    }
}

/// A caller that has proved itself and waits for the answer.
pub(crate) struct Guest<I> {
    pub(crate) introduction: I,
    /// Where it calls from.
    pub(crate) address: SocketAddr,
    stream: Box<dyn Stream>,
    proof: Vec<u8>,
}

impl<I: Introduction> Guest<I> {
    /// Lets it in.
    pub(crate) async fn welcome(mut self, answer: I::Answer) -> Result<Box<dyn Stream>, LinkError> {
        say(&mut self.stream, &Greeting::<I>::Welcome { answer, proof: self.proof }).await?;
        Ok(self.stream)
    }

    /// Sends it away with the reason.
    pub(crate) async fn refuse(mut self, why: String) {
        refuse::<I>(&mut self.stream, why).await;
    }
}

async fn refuse<I: Introduction>(stream: &mut Box<dyn Stream>, why: String) {
    // One packet to somebody who may be lost; whether it arrives does not matter.
    let _ = say(stream, &Greeting::<I>::Refused { why }).await;
}

/// Asks a caller for its proof.
pub(crate) async fn let_in<I: Introduction>(
    stream: TcpStream,
    accepting: &Accepting,
    secret: &Secret,
) -> Result<Guest<I>, LinkError> {
    let Kind { caller, listener, protocol: own, is_no_caller, .. } = I::KIND;
    stream.set_nodelay(true)?;
    let address = stream.peer_addr()?;
    let mut stream = accepting.accept(stream).await?;
    let listener_nonce = nonce()?;
    say(&mut stream, &Greeting::<I>::Challenge { protocol: own, nonce: listener_nonce }).await?;
    let hello = hear_any(&mut stream, MOST_OF_STRANGERS).await;
    let Ok(Greeting::<I>::Hello { protocol, introduction, nonce: caller_nonce, proof }) = hello else {
        refuse::<I>(&mut stream, is_no_caller.to_owned()).await;
        return Err(LinkError::Stranger);
    };
    if protocol != own {
        refuse::<I>(&mut stream, format!("it speaks version {protocol}, this side {own}")).await;
        return Err(LinkError::Stranger);
    }
    let (identity, text) = introduction.transcript();
    let exchange =
        Exchange { listener_nonce: &listener_nonce, caller_nonce: &caller_nonce, identity, text: &text };
    if !introduction.is_sound() || !secret.is_proved(caller, &exchange, &proof) {
        refuse::<I>(&mut stream, "it does not know the secret of this run".to_owned()).await;
        return Err(LinkError::Stranger);
    }
    let proof = secret.prove(listener, &exchange);
    Ok(Guest { introduction, address, stream, proof })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::introduction::{AgentIntroduction, Purpose};
    use proptest::prelude::*;

    fn heard(bytes: &[u8]) -> Result<Greeting<AgentIntroduction>, LinkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(hear_any(&mut &*bytes, MOST_OF_STRANGERS))
    }

    #[test]
    fn an_introduction_is_read_as_written() {
        let introduction =
            AgentIntroduction { purpose: Purpose::Clock, identity: u128::MAX - 1, node: "n".into() };
        let hello = Greeting::Hello { protocol: 7, introduction, nonce: [8; 32], proof: vec![1, 2] };
        let mut bytes = Vec::new();
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(say(&mut bytes, &hello))
            .unwrap();
        let Ok(Greeting::Hello { protocol: 7, introduction, nonce, proof }) = heard(&bytes) else {
            panic!("something else is read")
        };
        assert_eq!(introduction.transcript(), (u128::MAX - 1, "n".to_owned()));
        assert_eq!((introduction.purpose, nonce, proof), (Purpose::Clock, [8; 32], vec![1, 2]));
    }

    proptest! {
        #[test]
        fn garbage_is_refused_and_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = (garbage.len() as u32).to_le_bytes().to_vec();
            bytes.extend(&garbage);
            let _ = heard(&bytes);
        }
    }
}
