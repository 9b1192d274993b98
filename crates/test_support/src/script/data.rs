use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Bytes in a script: readable where they are UTF-8, base64 where they are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Encoded", into = "Encoded")]
pub struct Data(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Encoded {
    Text(String),
    Base64(String),
}

impl TryFrom<Encoded> for Data {
    type Error = base64::DecodeError;

    fn try_from(encoded: Encoded) -> Result<Self, Self::Error> {
        match encoded {
            Encoded::Text(text) => Ok(Self(text.into_bytes())),
            Encoded::Base64(text) => STANDARD.decode(text).map(Self),
        }
    }
}

impl From<Data> for Encoded {
    fn from(data: Data) -> Self {
        match String::from_utf8(data.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Base64(STANDARD.encode(error.as_bytes())),
        }
    }
}

impl<T: Into<Vec<u8>>> From<T> for Data {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::Data;

    #[test]
    fn text_stays_readable_and_other_bytes_survive() {
        for bytes in [b"plain \xc3\xa9".to_vec(), vec![0, 255, 10, 128]] {
            let json = serde_json::to_string(&Data(bytes.clone())).unwrap();
            assert_eq!(serde_json::from_str::<Data>(&json).unwrap().0, bytes);
        }
        assert_eq!(
            serde_json::to_string(&Data::from("é")).unwrap(),
            r#"{"text":"é"}"#
        );
    }
}
