//! Tests of the run screen.
