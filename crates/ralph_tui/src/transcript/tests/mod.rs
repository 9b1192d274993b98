//! Tests of the transcript as a whole: records in, buffers out.

mod hostile;
mod screens;
mod story;
mod reading;
