//! Dialogs: what covers the screen until it is answered. See `run` for those of a run.
