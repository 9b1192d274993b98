//! Lines made from a line that was read.

use serde_json::Value;

/// Fills in a template: `${/json/pointer}` from the line, `${argument:--name}` from the arguments; the error says what is
/// missing.
pub fn fill_template(template: &str, line: &Value, arguments: &[String]) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| format!("`${{` without `}}` in `{template}`"))?;
        filled.push_str(before);
        filled.push_str(&value_of(name, line, arguments)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value_of(name: &str, line: &Value, arguments: &[String]) -> Result<String, String> {
    if let Some(option) = name.strip_prefix("argument:") {
        let value = argument(option, arguments).ok_or_else(|| format!("no argument `{option}`"))?;
        return Ok(inside_string(value));
    }
    match line.pointer(name) {
        Some(Value::String(text)) => Ok(inside_string(text)),
        Some(value) => Ok(value.to_string()),
        None => Err(format!("the last line has no `{name}`")),
    }
}

fn argument<'a>(option: &str, arguments: &'a [String]) -> Option<&'a str> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == option {
            return rest.next().map(String::as_str);
        }
        if let Some(value) = argument
            .strip_prefix(option)
            .and_then(|tail| tail.strip_prefix('='))
        {
            return Some(value);
        }
    }
    None
}

/// Escaped as JSON, without the quotes: the template has its own.
fn inside_string(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::fill_template;
    use serde_json::json;

    #[test]
    fn a_template_takes_values_from_the_line_and_the_arguments() {
        let line = json!({"request_id": "r\"1", "request": {"tokens": 5}});
        let arguments = [
            "--session-id=abc".to_owned(),
            "--model".to_owned(),
            "opus".to_owned(),
        ];
        let filled = fill_template(
            r#"{"id":"${/request_id}","tokens":${/request/tokens},"session":"${argument:--session-id}","model":"${argument:--model}"}"#,
            &line,
            &arguments,
        );
        assert_eq!(
            filled.unwrap(),
            r#"{"id":"r\"1","tokens":5,"session":"abc","model":"opus"}"#
        );
    }

    #[test]
    fn a_value_that_is_not_there_is_an_error() {
        assert!(fill_template("${/nothing}", &json!({}), &[]).is_err());
        assert!(fill_template("${/open", &json!({}), &[]).is_err());
    }
}
