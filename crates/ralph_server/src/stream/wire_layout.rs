//! Lays out TypeScript types so that people can read them.

/// Longer types go over several lines.
const MAX_COLUMNS: usize = 96;

/// A declaration, with its comment before it, as ts-rs writes it: all of it on as few lines as can be.
pub(super) fn declaration(comment: &str, text: &str) -> String {
    let text = text.trim().trim_end_matches(';');
    let comment = comment_of(comment, "");
    match text.split_once(" = ") {
        Some((name, shape)) => {
            let shape = shape_of(shape, "");
            let space = if shape.starts_with('\n') { "" } else { " " };
            format!("{comment}export {name} ={space}{shape};\n")
        }
        None => format!("{comment}export {text};\n"),
    }
}

fn shape_of(shape: &str, indent: &str) -> String {
    let shape = shape.trim();
    let choices = split(shape, '|');
    if choices.len() > 1 {
        return union_of(&choices, indent);
    }
    let parts = split(shape, '&');
    if parts.len() > 1 {
        let parts: Vec<_> = parts.iter().map(|part| shape_of(part, indent)).collect();
        return parts.join(" & ");
    }
    if let Some(inner) = inside(shape, '(', ')') {
        return format!("({})", shape_of(inner, &format!("{indent}  ")));
    }
    match inside(shape, '{', '}') {
        Some(members) => object_of(members, indent),
        None => shape.replace('"', "'"),
    }
}

fn union_of(choices: &[&str], indent: &str) -> String {
    let short: Vec<_> = choices.iter().map(|choice| shape_of(choice, indent)).collect();
    let short = short.join(" | ");
    if short.len() + indent.len() <= MAX_COLUMNS && !short.contains('\n') {
        return short;
    }
    let deeper = format!("{indent}  ");
    let lines = choices.iter().map(|choice| {
        let choice = shape_of(choice, &format!("{deeper}  "));
        format!("\n{deeper}| {choice}")
    });
    lines.collect()
}

fn object_of(members: &str, indent: &str) -> String {
    let deeper = format!("{indent}  ");
    let members: Vec<_> = (split(members, ',').into_iter())
        .filter(|member| !member.trim().is_empty())
        .map(|member| member_of(member, &deeper))
        .collect();
    let short = members.join("; ");
    if short.len() + indent.len() <= MAX_COLUMNS && !short.contains('\n') {
        return format!("{{ {short} }}");
    }
    let lines: String = members
        .iter()
        .map(|member| format!("{deeper}{member};\n"))
        .collect();
    format!("{{\n{lines}{indent}}}")
}

fn member_of(member: &str, indent: &str) -> String {
    let member = member.trim();
    let (comment, member) = match member.rfind("*/") {
        Some(end) => member.split_at(end + 2),
        None => ("", member),
    };
    let Some((name, shape)) = member.trim().split_once(": ") else {
        return member.trim().to_owned();
    };
    let name = name.replace('"', "");
    // What may be absent is left out where there is none, and so never null.
    let shape = match name.strip_suffix('?') {
        Some(_) => shape.trim_end().trim_end_matches(" | null"),
        None => shape,
    };
    format!(
        "{}{name}: {}",
        comment_of(comment, indent),
        shape_of(shape, indent)
    )
}

/// A comment, without the links that mean something in Rust only, and the line after it begun.
fn comment_of(comment: &str, indent: &str) -> String {
    let comment = comment.trim();
    let text = comment.trim_start_matches("/**").trim_end_matches("*/");
    let lines: Vec<_> = (text.lines())
        .map(|line| line.trim().trim_start_matches('*').trim())
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = lines.into_iter().map(unlinked).collect();
    let between = format!("\n{indent} * ");
    format!("/** {} */\n{indent}", lines.join(&between))
}

fn unlinked(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[`") {
        text.push_str(before);
        let (name, after) = after.split_once("`]").unwrap_or((after, ""));
        text.push_str(&format!("`{name}`"));
        rest = match after.strip_prefix('(').and_then(|link| link.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    text + rest
}

/// The text between a pair of brackets that goes round all of it.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// Splits where a character stands outside of all brackets, comments and quotes.
fn split(text: &str, by: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut is_quoted, mut comment_until) = (0_usize, 0, false, 0);
    for (at, character) in text.char_indices() {
        if at < comment_until {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with("/**") && !is_quoted {
            comment_until = at + rest.find("*/").unwrap_or(rest.len());
            continue;
        }
        match character {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '{' | '(' | '[' | '<' => depth += 1,
            '}' | ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ if character == by && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::declaration;

    #[test]
    fn a_short_type_takes_one_line_and_a_long_one_a_line_for_each_part() {
        let short = declaration("", r#"type A = { "type": "a", data: B, } | "c";"#);
        assert_eq!(short, "export type A = { type: 'a'; data: B } | 'c';\n");
        let name = "n".repeat(80);
        let long = declaration(
            "/**\n * Of [`X`](crate::X), or [`Y`].\n */\n",
            &format!(
                "type A = {{ \n/**\n * One, two.\n */\none?: [number, number] | null, \"{name}\": number, }} & ({{ \"b\": B }} | C);"
            ),
        );
        let expected = format!(
            "/** Of `X`, or `Y`. */\nexport type A = {{\n  /** One, two. */\n  one?: [number, number];\n  {name}: number;\n}} & ({{ b: B }} | C);\n"
        );
        assert_eq!(long, expected);
    }

    #[test]
    fn what_may_be_absent_is_not_null_and_what_may_be_null_is_there() {
        let text = declaration("", "type A = { a?: B | null, b: B | null, };");
        assert_eq!(text, "export type A = { a?: B; b: B | null };\n");
    }
}
