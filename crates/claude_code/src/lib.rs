//! claude_code
