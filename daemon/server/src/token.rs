//! The secret that opens the page.

use data_encoding::HEXLOWER;
use std::fmt;
use std::hint::black_box;

/// 128 bits from the operating system. Never shown by `Debug`.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// From random bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let mut hex = [0; 32];
        HEXLOWER.encode_mut(&bytes, &mut hex);
        Token(hex)
    }

    /// A new one.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self::from_bytes(bytes))
    }

    /// As 32 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|digit| char::from(*digit)).collect()
    }

    /// Compares in a time that depends on nothing but the length of what was offered.
    #[must_use]
    pub(crate) fn matches(&self, offered: &str) -> bool {
        let offered = offered.as_bytes();
        if offered.len() != self.0.len() {
            return false;
        }
        let difference =
            self.0.iter().zip(offered).fold(0, |sum, (ours, theirs)| black_box(sum | (ours ^ theirs)));
        black_box(difference) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn only_the_same_digits_match() {
        let token = Token::from_bytes([0xa5; 16]);
        assert_eq!(token.hex(), "a5".repeat(16));
        assert!(token.matches(&"a5".repeat(16)));
        assert!(!token.matches(&"A5".repeat(16)));
        assert!(!token.matches(&"a5".repeat(15)));
        assert!(!token.matches(""));
        assert_eq!(format!("{token:?}"), "Token(secret)");
    }
}
