//! `ralph answer`.

use clap::Args;

/// Answer what an agent asks, or list what it asks
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph answer latest                              list what is asked
  ralph answer latest --allow                      the only open request
  ralph answer 0198c3 --deny \"not in production\"
  ralph answer 0198c3 --request req_7 --choose \"Use tokio\"

Without --allow, --always, --deny or --choose, what is asked is listed.")]
pub struct AnswerArgs {
    /// The run: its id, the first characters of it, or `latest`
    pub run: String,

    /// Which request; needed only where several are open
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,

    /// It may run; a plan is approved
    #[arg(long, group = "reply")]
    pub allow: bool,

    /// It may run, now and whenever it would be asked again in this session
    #[arg(long, group = "reply")]
    pub always: bool,

    /// It may not run; the agent is told why
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", group = "reply")]
    pub deny: Option<String>,

    /// The answer to a question; repeat it for further questions, in their order
    #[arg(long, value_name = "ANSWER", group = "reply")]
    pub choose: Vec<String>,

    /// List as JSON
    #[arg(long, conflicts_with = "reply")]
    pub json: bool,
}
