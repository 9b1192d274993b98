//! test_support
