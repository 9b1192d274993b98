//! However the bytes are cut, the events are the same.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use claude_code::{Decoder, Event, LineError, LineErrorCode, events_from};
use futures_core::Stream;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use tokio::io::{AsyncRead, ReadBuf};

type Item = Result<Event, LineError>;

fn decode(chunks: impl IntoIterator<Item = Vec<u8>>) -> Vec<Item> {
    let mut decoder = Decoder::new(4096);
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::from(chunk));
        items.extend(std::iter::from_fn(|| decoder.next()));
    }
    decoder.finish();
    items.extend(std::iter::from_fn(|| decoder.next()));
    items
}

/// Same events with the same content, same errors at the same places.
fn assert_same(left: &[Item], right: &[Item]) {
    assert_eq!(left, right);
    for (left, right) in left.iter().zip(right) {
        if let (Ok(left), Ok(right)) = (left, right) {
            assert_eq!(left.kind(), right.kind());
        }
    }
}

fn cut(stream: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| stream[pair[0]..pair[1]].to_vec())
        .collect()
}

const LINES: &[&str] = &[
    r#"{"type":"system","subtype":"init","model":"claude-opus-5-5","tools":["Bash","Read"],"cwd":"/wörkspace 漢"}"#,
    r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"é漢🎉 \u00e9\n\"\\"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls \"x\""}}],"usage":{"input_tokens":12}}}"#,
    r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"out\\"}]},"tool_use_result":{"stdout":"\\\\"}}"#,
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"🎉"}}}"#,
    r#"{"duration_api_ms":1,"total_cost_usd":0.0223456,"result":"ok","type":"result","subtype":"success"}"#,
    "",
    "\u{feff}",
    "banner 🎉",
    "{\"type\":\"torn",
    "[{\"type\":\"a\"},{\"type\":\"b\"}]{\"type\":\"c\"}",
    "\u{1b}[?25h",
    "[warn] text",
    "[",
    "]",
    ",",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => prop::sample::select(LINES).prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(vec![b'x'; 5000]),
    ];
    let end = prop_oneof![8 => Just(b"\n".to_vec()), 2 => Just(b"\r\n".to_vec()), 3 => Just(Vec::new())];
    prop::collection::vec((line, end), 0..12).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, end)| [line, end])
            .flatten()
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_events(stream in stream(), cuts in prop::collection::vec(any::<usize>(), 0..20)) {
        assert_same(&decode(cut(&stream, &cuts)), &decode([stream]));
    }

    #[test]
    fn any_bytes_give_events_or_errors_and_never_a_panic(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..400), stream()]
    ) {
        for item in decode([bytes.clone()]) {
            match item {
                Ok(event) => {
                    let start = usize::try_from(event.offset()).unwrap();
                    assert_eq!(&bytes[start..start + event.raw().len()], &event.raw()[..]);
                }
                Err(error) => assert!(error.offset + error.length_bytes <= bytes.len() as u64),
            }
        }
    }

    #[test]
    fn what_serde_accepts_as_an_object_is_an_event(value in json_object()) {
        let line = serde_json::to_vec(&value).unwrap();
        let event = claude_code::parse_line(&line).unwrap();
        assert_eq!(&event.raw()[..], &line[..]);
        assert_eq!(event.raw_json().deserialize::<serde_json::Value>().unwrap(), value);
        // The same with white space wherever it is allowed.
        let spaced = serde_json::to_string_pretty(&value).unwrap().replace('\n', "\t").replace(':', ": ");
        let same = claude_code::parse_line(spaced.as_bytes()).unwrap();
        assert_eq!(std::mem::discriminant(same.kind()), std::mem::discriminant(event.kind()));
    }
}

const WORDS: &[&str] = &[
    "type",
    "subtype",
    "message",
    "content",
    "text",
    "assistant",
    "user",
    "usage",
    "event",
    "delta",
];

fn json_object() -> impl Strategy<Value = serde_json::Value> {
    let key = prop_oneof![
        prop::sample::select(WORDS).prop_map(str::to_owned),
        any::<String>()
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(|quarters| serde_json::Value::from(f64::from(quarters) / 4.0)),
        key.clone().prop_map(serde_json::Value::from),
    ];
    let object_key = key.clone();
    let value = leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(object_key.clone(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(key, value, 0..8)
        .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()))
}

#[test]
fn every_single_cut_gives_the_same_events() {
    let stream = LINES.join("\r\n").into_bytes();
    let whole = decode([stream.clone()]);
    assert_eq!(whole.iter().filter(|item| item.is_ok()).count(), 8);
    for place in 0..=stream.len() {
        assert_same(&decode(cut(&stream, &[place])), &whole);
    }
    assert_same(&decode(stream.iter().map(|byte| vec![*byte])), &whole);
}

/// Gives a few bytes at a time, then ends or fails.
struct Reader {
    rest: Vec<u8>,
    step: usize,
    failure: Option<std::io::ErrorKind>,
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.rest.is_empty() {
            return Poll::Ready(self.failure.map_or(Ok(()), |kind| Err(kind.into())));
        }
        let count = self.step.min(self.rest.len()).min(buffer.remaining());
        let chunk: Vec<u8> = self.rest.drain(..count).collect();
        buffer.put_slice(&chunk);
        Poll::Ready(Ok(()))
    }
}

async fn read_all(reader: Reader) -> Vec<Item> {
    let mut stream = Box::pin(events_from(reader));
    let mut items = Vec::new();
    while let Some(item) = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await {
        items.push(item);
    }
    items
}

#[tokio::test]
async fn a_reader_gives_the_same_events_however_it_reads() {
    let rest = LINES.join("\n").into_bytes();
    let whole = decode([rest.clone()]);
    for step in [1, 2, 7, 64, 100_000] {
        assert_same(
            &read_all(Reader {
                rest: rest.clone(),
                step,
                failure: None,
            })
            .await,
            &whole,
        );
    }
}

#[tokio::test]
async fn a_read_error_comes_after_everything_that_was_read() {
    let rest = b"{\"type\":\"user\"}\n{\"type\":\"result\"}\n{\"type\":\"to".to_vec();
    let kind = std::io::ErrorKind::ConnectionReset;
    let items = read_all(Reader {
        rest: rest.clone(),
        step: 5,
        failure: Some(kind),
    })
    .await;
    let codes: Vec<_> = items
        .iter()
        .map(|item| item.as_ref().map(|_| ()).map_err(|error| error.code))
        .collect();
    let (torn, failed) = (LineErrorCode::Truncated, LineErrorCode::ReadFailed(kind));
    assert_eq!(codes, [Ok(()), Ok(()), Err(torn), Err(failed)]);
    assert_eq!(items[3].as_ref().unwrap_err().offset, rest.len() as u64);
}

/// Bytes that tell when nobody holds them any more.
struct Watched {
    bytes: Vec<u8>,
    _watch: Arc<()>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[test]
fn an_idle_decoder_keeps_no_line_that_it_has_handed_out() {
    let watch = Arc::new(());
    let mut decoder = Decoder::default();
    decoder.push(Bytes::from_owner(Watched {
        bytes: b"{\"type\":\"user\"}\n".to_vec(),
        _watch: Arc::clone(&watch),
    }));
    assert!(decoder.next().is_some_and(|item| item.is_ok()));
    assert!(decoder.next().is_none());
    assert_eq!(Arc::strong_count(&watch), 1);
}
