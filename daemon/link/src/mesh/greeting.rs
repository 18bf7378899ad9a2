//! How two processes prove to each other that they know the secret, on each connection before anything else.

use crate::encryption::{Accepting, Connecting, Stream};
use crate::error::LinkError;
use crate::packet::{MOST_OF_STRANGERS, hear_any, say};
use crate::secret::{Exchange, Secret, Side, nonce};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// The version of this protocol.
const PROTOCOL: u32 = 1;

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To meet the others at process 0, and to say where this process listens itself.
    Meet { port: u16, certificate: Option<String> },
    /// One of the streams.
    Stream(u8),
}

/// How a process introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Introduction {
    /// Its number.
    pub(crate) from: u32,
    /// The number of the process it wants to reach.
    pub(crate) to: u32,
    pub(crate) purpose: Purpose,
}

/// The packets before a connection is used.
#[derive(Debug, Serialize, Deserialize)]
enum Greeting {
    /// The listener speaks first: a number used once, which the answer has to hold.
    Challenge { protocol: u32, nonce: [u8; 32] },
    /// The caller introduces itself with its proof, and asks for the same proof.
    Hello {
        protocol: u32,
        introduction: Introduction,
        nonce: [u8; 32],
        #[serde(with = "serde_bytes")]
        proof: Vec<u8>,
    },
    /// The listener's proof.
    Welcome {
        #[serde(with = "serde_bytes")]
        proof: Vec<u8>,
    },
    /// The listener does not want this caller.
    Refused { why: String },
}

/// Everything in an introduction that a proof holds for.
fn transcript(introduction: &Introduction) -> (u128, String) {
    let Introduction { from, to, purpose } = introduction;
    let (kind, text) = match purpose {
        Purpose::Meet { port, certificate } => {
            (0, format!("{port} {}", certificate.as_deref().unwrap_or_default()))
        }
        Purpose::Stream(stream) => (1 + u128::from(*stream), String::new()),
    };
    (u128::from(*from) | u128::from(*to) << 32 | kind << 64, text)
}

/// Introduces this process to another one.
pub(crate) async fn greet(
    stream: TcpStream,
    connecting: &Connecting,
    secret: &Secret,
    introduction: &Introduction,
) -> Result<Box<dyn Stream>, LinkError> {
    stream.set_nodelay(true)?;
    let mut stream = connecting.connect(stream).await?;
    let Greeting::Challenge { protocol, nonce: listener_nonce } =
        hear_any(&mut stream, MOST_OF_STRANGERS).await?
    else {
        return Err(LinkError::Protocol("is no process of this analysis"));
    };
    if protocol != PROTOCOL {
        return Err(LinkError::Refused(format!("it speaks version {protocol}, this process {PROTOCOL}")));
    }
    let caller_nonce = nonce()?;
    let (identity, text) = transcript(introduction);
    let exchange =
        Exchange { daemon_nonce: &listener_nonce, agent_nonce: &caller_nonce, identity, node: &text };
    let hello = Greeting::Hello {
        protocol: PROTOCOL,
        introduction: introduction.clone(),
        nonce: caller_nonce,
        proof: secret.prove(Side::MeshCaller, &exchange),
    };
    say(&mut stream, &hello).await?;
    match hear_any(&mut stream, MOST_OF_STRANGERS).await? {
        Greeting::Welcome { proof } if secret.is_proved(Side::MeshListener, &exchange, &proof) => Ok(stream),
        Greeting::Welcome { .. } => Err(LinkError::Stranger),
        Greeting::Refused { why } => Err(LinkError::Refused(why)),
        _ => Err(LinkError::Protocol("is no process of this analysis")),
    }
}

/// A caller that has proved itself and waits for the answer.
pub(crate) struct Guest {
    pub(crate) introduction: Introduction,
    /// Where it calls from.
    pub(crate) address: SocketAddr,
    stream: Box<dyn Stream>,
    proof: Vec<u8>,
}

impl Guest {
    /// Lets it in.
    pub(crate) async fn welcome(mut self) -> Result<Box<dyn Stream>, LinkError> {
        say(&mut self.stream, &Greeting::Welcome { proof: self.proof }).await?;
        Ok(self.stream)
    }

    /// Sends it away with the reason.
    pub(crate) async fn refuse(mut self, why: String) {
        refuse(&mut self.stream, why).await;
    }
}

async fn refuse(stream: &mut Box<dyn Stream>, why: String) {
    // Whether it arrives does not matter.
    let _ = say(stream, &Greeting::Refused { why }).await;
}

/// Asks a caller of the process with this number for its proof.
pub(crate) async fn let_in(
    stream: TcpStream,
    accepting: &Accepting,
    secret: &Secret,
    number: u32,
) -> Result<Guest, LinkError> {
    stream.set_nodelay(true)?;
    let address = stream.peer_addr()?;
    let mut stream = accepting.accept(stream).await?;
    let listener_nonce = nonce()?;
    say(&mut stream, &Greeting::Challenge { protocol: PROTOCOL, nonce: listener_nonce }).await?;
    let hello = hear_any(&mut stream, MOST_OF_STRANGERS).await;
    let Ok(Greeting::Hello { protocol, introduction, nonce: caller_nonce, proof }) = hello else {
        refuse(&mut stream, "this is no process of the analysis".into()).await;
        return Err(LinkError::Stranger);
    };
    if protocol != PROTOCOL {
        refuse(&mut stream, format!("it speaks version {protocol}, process {number} {PROTOCOL}")).await;
        return Err(LinkError::Stranger);
    }
    let (identity, text) = transcript(&introduction);
    let exchange =
        Exchange { daemon_nonce: &listener_nonce, agent_nonce: &caller_nonce, identity, node: &text };
    if !secret.is_proved(Side::MeshCaller, &exchange, &proof) {
        refuse(&mut stream, "it does not know the secret of this run".into()).await;
        return Err(LinkError::Stranger);
    }
    if introduction.to != number {
        let why = format!("it calls process {}, and this is process {number}", introduction.to);
        refuse(&mut stream, why).await;
        return Err(LinkError::Stranger);
    }
    let proof = secret.prove(Side::MeshListener, &exchange);
    Ok(Guest { introduction, address, stream, proof })
}
