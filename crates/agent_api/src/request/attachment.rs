//! `Attachment`: an image or a document that goes with a message.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::capability;

/// An image or a document that goes with a message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attachment {
    /// A picture. Needs [`capability::IMAGES`].
    Image {
        /// For example `image/png`.
        media_type: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// A text document. Needs [`capability::DOCUMENTS`].
    Text {
        /// What the model calls it.
        name: String,
        /// Its content.
        text: String,
    },
    /// A binary document, such as a PDF. Needs [`capability::DOCUMENTS`].
    Document {
        /// What the model calls it.
        name: String,
        /// For example `application/pdf`.
        media_type: String,
        /// Its bytes in base64.
        base64: String,
    },
}

impl Attachment {
    /// A picture, from its bytes.
    pub fn image(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            base64: STANDARD.encode(bytes),
        }
    }

    /// A text document.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text {
            name: name.into(),
            text: text.into(),
        }
    }

    /// A binary document, from its bytes.
    pub fn document(name: impl Into<String>, media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Document {
            name: name.into(),
            media_type: media_type.into(),
            base64: STANDARD.encode(bytes),
        }
    }

    /// What an agent must be able to take.
    pub(crate) fn capability(&self) -> &'static str {
        match self {
            Self::Image { .. } => capability::IMAGES,
            Self::Text { .. } | Self::Document { .. } => capability::DOCUMENTS,
        }
    }
}

impl fmt::Debug for Attachment {
    /// Without the content.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, bytes) = match self {
            Self::Image { base64, .. } => ("Image", base64.len()),
            Self::Text { text, .. } => ("Text", text.len()),
            Self::Document { base64, .. } => ("Document", base64.len()),
        };
        write!(formatter, "{kind}(<{bytes} bytes>)")
    }
}
