//! Anthropic's Claude Code, and other agents that speak its dialect.
