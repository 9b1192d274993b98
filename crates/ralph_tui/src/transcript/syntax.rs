//! `Highlighter`: colors code line by line, in one pass. It knows what comments, texts, numbers and keywords look like in
//! common languages, and nothing more: a screen of code must not cost more than a fraction of a frame, which a grammar
//! made of regular expressions does.

use super::line::{Line, Look};
use crate::theme::Role;

/// Code beyond these limits is plain.
const MAX_BYTES: usize = 512 << 10;
const MAX_LINES: usize = 10_000;
const MAX_LINE_BYTES: usize = 4 << 10;

#[derive(Debug)]
struct Language {
    names: &'static [&'static str],
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Quotes of texts that end with their line.
    quotes: &'static [char],
    /// Quotes of texts that may have several lines.
    long_quotes: &'static [&'static str],
    keywords: &'static str,
}

const C_LIKE: Language = Language {
    names: &[],
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    long_quotes: &[],
    keywords: "",
};

const LANGUAGES: [Language; 14] = [
    Language {
        names: &["rust", "rs"],
        // A quote also starts a lifetime.
        quotes: &['"'],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
        ..C_LIKE
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "cjs", "typescript", "ts", "tsx"],
        long_quotes: &["`"],
        keywords: "any as async await boolean break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null number of private public readonly return static string super switch this throw true try type typeof undefined var void while yield",
        ..C_LIKE
    },
    Language {
        names: &["go"],
        long_quotes: &["`"],
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
        ..C_LIKE
    },
    Language {
        names: &["c", "h", "cpp", "cc", "cxx", "hpp", "c++"],
        keywords: "auto bool break case catch char class const constexpr continue default delete do double else enum extern false float for if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while #include #define #if #ifdef #ifndef #endif #else",
        ..C_LIKE
    },
    Language {
        names: &[
            "java", "kotlin", "kt", "kts", "scala", "csharp", "cs", "swift", "dart", "groovy",
        ],
        long_quotes: &["\"\"\""],
        keywords: "abstract async await boolean break byte case catch char class const continue data def default do double else enum extends false final finally float for fun func guard if implements import in int interface internal is let long namespace new null object open override package private protected public return sealed short static string struct super switch this throw throws true try using val var void when where while",
        ..C_LIKE
    },
    Language {
        names: &["python", "py", "pyi"],
        line_comments: &["#"],
        block_comment: None,
        long_quotes: &["\"\"\"", "'''"],
        keywords: "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return self try while with yield match case",
        ..C_LIKE
    },
    Language {
        names: &[
            "bash",
            "sh",
            "shell",
            "zsh",
            "fish",
            "console",
            "make",
            "makefile",
            "dockerfile",
            "docker",
        ],
        line_comments: &["#"],
        block_comment: None,
        keywords: "if then else elif fi for in do done while until case esac function return export local readonly set unset source echo exit cd FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR ARG EXPOSE",
        ..C_LIKE
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs"],
        line_comments: &["#"],
        block_comment: None,
        keywords: "alias and begin break case class def defmodule defp do else elsif end ensure false fn for if in module next nil not or raise require rescue return self super then true unless until when while yield",
        ..C_LIKE
    },
    Language {
        names: &["yaml", "yml", "toml", "ini", "conf", "properties", "env"],
        line_comments: &["#"],
        block_comment: None,
        keywords: "true false null yes no on off",
        ..C_LIKE
    },
    Language {
        names: &["json", "json5", "jsonc", "jsonl"],
        quotes: &['"'],
        keywords: "true false null",
        ..C_LIKE
    },
    Language {
        names: &["sql", "postgres", "sqlite"],
        line_comments: &["--"],
        keywords: "select from where insert into values update set delete create table alter drop index view join left right inner outer on as and or not null is in order by group having limit union distinct primary key references default begin commit rollback SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE ALTER DROP INDEX VIEW JOIN LEFT RIGHT INNER OUTER ON AS AND OR NOT NULL IS IN ORDER BY GROUP HAVING LIMIT UNION DISTINCT PRIMARY KEY REFERENCES DEFAULT BEGIN COMMIT ROLLBACK",
        ..C_LIKE
    },
    Language {
        names: &["css", "scss", "less"],
        keywords: "important media import from to",
        ..C_LIKE
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        ..C_LIKE
    },
    Language {
        names: &["lua", "haskell", "hs"],
        line_comments: &["--"],
        block_comment: None,
        keywords: "and break case class data deriving do else elseif end false for function goto if import in instance let local module newtype nil not of or repeat return then true type until where while",
        ..C_LIKE
    },
];

/// What a line begins inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    Comment(&'static str),
    Text(&'static str),
}

/// Colors the lines of one file or block, in order.
#[derive(Debug, Clone)]
pub(super) struct Highlighter {
    language: &'static Language,
    state: State,
    bytes: usize,
    lines: usize,
}

impl Highlighter {
    /// By the name of a language, as after the fence of a code block.
    pub(super) fn for_language(name: &str) -> Option<Self> {
        let name = name.split([' ', ',', '{', ':']).next()?.to_lowercase();
        let language = LANGUAGES
            .iter()
            .find(|language| language.names.contains(&name.as_str()))?;
        Some(Self {
            language,
            state: State::Code,
            bytes: 0,
            lines: 0,
        })
    }

    /// By the ending of a file's name.
    pub(super) fn for_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        Self::for_language(name.rsplit('.').next()?)
    }

    /// Adds the next line of code to a line, in colors over `base`.
    pub(super) fn push(&mut self, code: &str, base: Look, line: &mut Line) {
        self.bytes += code.len();
        self.lines += 1;
        if self.bytes > MAX_BYTES || self.lines > MAX_LINES || code.len() > MAX_LINE_BYTES {
            line.push(code, base);
            return;
        }
        let mut rest = code;
        while !rest.is_empty() {
            let (length, role) = self.token(rest);
            let (token, after) = rest.split_at(rest.ceil_char_boundary(length.max(1)));
            let look = role.map_or(base, |role| Look {
                role: Some(role),
                ..base
            });
            line.push(token, look);
            rest = after;
        }
    }

    /// The length of the next token, and its role.
    fn token(&mut self, rest: &str) -> (usize, Option<Role>) {
        match self.state {
            State::Comment(end) => return (self.until(rest, end), Some(Role::Comment)),
            State::Text(end) => return (self.until(rest, end), Some(Role::Literal)),
            State::Code => {}
        }
        let language = self.language;
        if language.line_comments.iter().any(|start| rest.starts_with(start)) {
            return (rest.len(), Some(Role::Comment));
        }
        if let Some((start, end)) = language.block_comment
            && let Some(inside) = rest.strip_prefix(start)
        {
            self.state = State::Comment(end);
            return (start.len() + self.until(inside, end), Some(Role::Comment));
        }
        for quote in language.long_quotes {
            if let Some(inside) = rest.strip_prefix(quote) {
                self.state = State::Text(quote);
                return (quote.len() + self.until(inside, quote), Some(Role::Literal));
            }
        }
        let Some(first) = rest.chars().next() else {
            return (0, None);
        };
        if language.quotes.contains(&first) {
            return (quoted_length(rest, first), Some(Role::Literal));
        }
        if first.is_ascii_digit() {
            let is_part =
                |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
            let end = rest.find(|character| !is_part(character));
            return (end.unwrap_or(rest.len()), Some(Role::Literal));
        }
        if first.is_alphabetic() || matches!(first, '_' | '#' | '@') {
            let mut characters = rest.char_indices().skip(1);
            let end = characters.find(|(_, character)| !character.is_alphanumeric() && *character != '_');
            let end = end.map_or(rest.len(), |(end, _)| end);
            let word = &rest[..end];
            let role = if language.keywords.split(' ').any(|keyword| keyword == word) {
                Some(Role::Keyword)
            } else if rest[end..].starts_with('(') || rest[end..].starts_with("!(") {
                Some(Role::Name)
            } else {
                None
            };
            return (end, role);
        }
        let plain = rest.find(|character: char| {
            character.is_alphanumeric()
                || matches!(character, '_' | '#' | '@' | '/' | '-' | '<' | '"' | '\'' | '`')
        });
        (plain.filter(|end| *end > 0).unwrap_or(first.len_utf8()), None)
    }

    /// The length up to the end of what the line is inside of.
    fn until(&mut self, rest: &str, end: &str) -> usize {
        match rest.find(end) {
            Some(at) => {
                self.state = State::Code;
                at + end.len()
            }
            None => rest.len(),
        }
    }
}

/// The length of a text in quotes, which ends with the line if it lacks its second one.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Highlighter, LANGUAGES};
    use crate::theme::Role;
    use crate::transcript::line::{Line, Look};

    fn tokens(language: &str, lines: &[&str]) -> Vec<(String, Role)> {
        let mut highlighter = Highlighter::for_language(language).unwrap();
        let mut found = Vec::new();
        for code in lines {
            let mut line = Line::default();
            highlighter.push(code, Look::PLAIN, &mut line);
            let mut start = 0;
            for span in &line.spans {
                if let Some(role) = span.look.role {
                    found.push((line.text[start..span.end].to_owned(), role));
                }
                start = span.end;
            }
        }
        found
    }

    #[test]
    fn keywords_texts_numbers_and_comments_have_their_roles() {
        let all = tokens(
            "rust",
            &["let x = foo(\"a \\\" b\", 12); // done", "/* a", "b */ 'a fn"],
        );
        let expected = [
            ("let", Role::Keyword),
            ("foo", Role::Name),
            ("\"a \\\" b\"", Role::Literal),
            ("12", Role::Literal),
            ("// done", Role::Comment),
            ("/* a", Role::Comment),
            ("b */", Role::Comment),
            ("fn", Role::Keyword),
        ];
        assert_eq!(all, expected.map(|(text, role)| (text.to_owned(), role)));
        let all = tokens("py", &["x = '''a", "b''' # c"]);
        assert_eq!(
            all.iter().map(|token| token.1).collect::<Vec<_>>(),
            [Role::Literal, Role::Literal, Role::Comment]
        );
    }

    #[test]
    fn a_language_is_found_by_fence_and_by_path() {
        assert!(Highlighter::for_language("Rust,ignore").is_some());
        assert!(Highlighter::for_path("/a/b.test.tsx").is_some());
        assert!(Highlighter::for_path("/a/README").is_none());
        let names: Vec<&str> = LANGUAGES
            .iter()
            .flat_map(|language| language.names)
            .copied()
            .collect();
        let unique: std::collections::HashSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), unique.len());
    }

    proptest! {
        #[test]
        fn no_character_is_lost(code in "[a-z\"'`/*#<>!0-9é漢 \\\\-]{0,60}", language in 0_usize..LANGUAGES.len()) {
            let mut highlighter = Highlighter::for_language(LANGUAGES[language].names[0]).unwrap();
            let mut line = Line::default();
            highlighter.push(&code, Look::PLAIN, &mut line);
            prop_assert_eq!(line.text, code);
        }
    }
}
