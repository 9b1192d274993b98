//! Text as YAML that every program reads as that text.

use yaml_tree::{Node, Value, parse_document};

/// Words that other YAML readers take for something else than text.
const WORDS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "y", "n"];

/// A value of a field: plain where that is safe, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    let is_word = WORDS.contains(&text.to_ascii_lowercase().as_str());
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && text.replace('_', "").parse::<f64>().is_ok();
    let has_mark =
        text.contains(|character: char| ",[]{}\"'\\".contains(character) || character.is_control());
    // By itself, and as an item of a list, where other marks count.
    let reads_the_same = || {
        let Ok(root) = parse_document(&format!("k: {text}\nl: [{text}]")) else {
            return false;
        };
        let is_text = |node: &Node| node.value == Value::Scalar(text.to_owned());
        let is_item = |node: &Node| matches!(&node.value, Value::List(items) if items.iter().all(is_text));
        root.get("k").is_some_and(is_text) && root.get("l").is_some_and(is_item)
    };
    if !is_word && !is_number && !has_mark && reads_the_same() {
        return text.to_owned();
    }
    quoted(text)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            other if other.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(other))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A list on one line.
pub(crate) fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| scalar(item)).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
    use yaml_tree::{Node, Value, parse_document};

    use super::{list, scalar};

    #[test]
    fn plain_words_stay_plain_and_others_are_quoted() {
        for (text, yaml) in [
            ("Read the file", "Read the file"),
            ("Fix #12: the parser", "\"Fix #12: the parser\""),
            ("no", "\"no\""),
            ("1.50", "\"1.50\""),
            ("~", "\"~\""),
            ("a \"b\"", "\"a \\\"b\\\"\""),
            ("src/**", "src/**"),
            ("-", "\"-\""),
            ("**/*.rs", "\"**/*.rs\""),
        ] {
            assert_eq!(scalar(text), yaml);
        }
    }

    fn read(yaml: &str) -> Node {
        parse_document(yaml).unwrap().get("k").unwrap().clone()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2048, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_written_is_read_back(one in "[ -~é\n\t]{1,12}", other in "[a-z#:,\\[\\]\"' -]{1,8}") {
            prop_assert_eq!(read(&format!("k: {}  # comment\n", scalar(&one))).value, Value::Scalar(one.clone()));
            let items = [one, other];
            let Value::List(nodes) = read(&format!("k: {}\n", list(&items))).value else {
                panic!("not a list")
            };
            let values: Vec<Value> = nodes.into_iter().map(|node| node.value).collect();
            prop_assert_eq!(values, items.map(Value::Scalar).to_vec());
        }
    }
}
