//! Tests of the transcript as a whole: records in, buffers out.

mod hostile;
mod reading;
mod screens;
mod searching;
mod story;
