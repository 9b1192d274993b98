//! Which conversation, and what may happen in it.

/// Which conversation to go on with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one, under this id if the backend takes one.
    #[default]
    New,
    /// A new one under this id (a UUID).
    NewWithId(String),
    /// This one.
    Resume(String),
    /// A copy of this one.
    Fork(String),
    /// The last one of the working directory.
    Last,
    /// A copy of the last one of the working directory.
    ForkLast,
}

/// What may happen without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// The agent asks, or refuses where nobody can answer.
    Ask,
    /// Edits need no asking.
    AcceptEdits,
    /// Nothing changes before a plan is approved.
    Plan,
    /// What would be asked is refused.
    Refuse,
    /// Everything is allowed.
    Bypass,
}
