//! What a session is made of.

use crate::event::field::wire_struct;
use crate::event::list::TextList;
use crate::event::system::PermissionMode;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// A session or a further turn begins. Not always the first line, and not always the only `init`.
    pub struct Init {
        @usual { rest "type", rest "subtype", cwd "cwd", rest "session_id", tools "tools", mcp_servers "mcp_servers", model "model", permission_mode "permissionMode", slash_commands "slash_commands", rest "terminal_slash_commands", api_key_source "apiKeySource", claude_code_version "claude_code_version", output_style "output_style", agents "agents", skills "skills", plugins "plugins", capabilities "capabilities", rest "analytics_disabled", rest "product_feedback_disabled", rest "uuid", rest "memory_paths", rest "original_cwd", additional_directories "additional_directories", rest "messaging_socket_path" }
        /// The model.
        model: Option<Text> = b"model",
        /// Working directory.
        cwd: Option<Text> = b"cwd",
        /// The CLI's version (2.1.9 and later), of whatever agent it is.
        claude_code_version: Option<Text> = b"claude_code_version" | b"qwen_code_version",
        /// What happens without asking.
        permission_mode: Option<PermissionMode> = b"permissionMode" | b"permission_mode",
        /// Tools the model can call.
        tools: TextList = b"tools",
        /// MCP servers and whether they answer, up to 65,536.
        mcp_servers: Vec<McpServer> = b"mcp_servers",
        /// Where the API key comes from; `none` with a login.
        api_key_source: Option<Text> = b"apiKeySource",
        /// Slash commands that work here.
        slash_commands: TextList = b"slash_commands",
        /// Subagents.
        agents: TextList = b"agents",
        /// Skills.
        skills: TextList = b"skills",
        /// Plugins, as written.
        plugins: Option<RawJson> = b"plugins",
        /// How the model was told to write.
        output_style: Option<Text> = b"output_style",
        /// What the CLI offers to an embedder.
        capabilities: TextList = b"capabilities",
        /// Further directories it may touch.
        additional_directories: TextList = b"additional_directories",
        /// The user messages that this turn answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }
}

wire_struct! {
    /// An MCP server.
    pub struct McpServer {
        /// Its name.
        name: Option<Text> = b"name",
        /// For example `connected` or `failed`.
        status: Option<Text> = b"status",
        /// Where it was configured.
        source: Option<Text> = b"source",
    }
}
