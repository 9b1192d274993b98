//! Run ids: how `Home` makes, recognises, shortens and matches them with what people type.

use jiff::Timestamp;

use super::base32::{canonical_base32, encode_base32, is_base32, random_number};

/// Characters of the short part.
const SHORT_CHARS: u32 = 8;

pub(super) fn random_id(at: Timestamp) -> String {
    new_id(at, random_number())
}

/// `20261115-235959-g4k7m2xq`: the time in UTC and the short part that people type. The first two characters of the short
/// part are the fraction of the second, so that ids sort by time; the others are random.
fn new_id(at: Timestamp, random: u64) -> String {
    let fraction = u64::from(at.subsec_nanosecond().unsigned_abs()) * 1024 / 1_000_000_000;
    let short = fraction << 30 | random & ((1 << 30) - 1);
    let short = encode_base32(short, SHORT_CHARS);
    format!("{}-{short}", at.strftime("%Y%m%d-%H%M%S"))
}

/// Whether a directory of this name can be a run. Earlier versions had six hexadecimal digits as the short part.
pub(super) fn is_id(name: &str) -> bool {
    let mut parts = name.split('-');
    let has_digits = |part: Option<&str>, length: usize| {
        part.is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let has_time = has_digits(parts.next(), 8) && has_digits(parts.next(), 6);
    let is_short = parts.next().is_some_and(|short| match short.len() {
        6 => short.bytes().all(|byte| byte.is_ascii_hexdigit()),
        8 => short.bytes().all(is_base32),
        _ => false,
    });
    has_time && is_short && parts.next().is_none()
}

/// The part of a run's id that people type: what follows the date and the time.
pub fn short_run_id(id: &str) -> &str {
    match id.rsplit_once('-') {
        Some((_, short)) if is_id(id) => short,
        _ => id,
    }
}

/// How well an id fits what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    Beginning,
    ShortBeginning,
    Short,
    Exact,
}

/// Upper case and characters that look like others are understood.
pub(super) fn match_id(id: &str, typed: &str) -> Option<Match> {
    let short = short_run_id(id);
    let is_alike = |from: &str, typed: &str| {
        from.len() >= typed.len()
            && from
                .bytes()
                .zip(typed.bytes())
                .all(|(own, typed)| own == typed || own == canonical_base32(typed))
    };
    if typed.is_empty() {
        None
    } else if id == typed {
        Some(Match::Exact)
    } else if is_alike(short, typed) {
        Some(match short.len() == typed.len() {
            true => Match::Short,
            false => Match::ShortBeginning,
        })
    } else {
        is_alike(id, typed).then_some(Match::Beginning)
    }
}

#[cfg(test)]
mod tests {
    use super::{Match, is_id, match_id, new_id, short_run_id};
    use jiff::Timestamp;

    #[test]
    fn an_id_says_when_and_sorts_by_time() {
        let at: Timestamp = "2026-11-15T23:59:59.5Z".parse().unwrap();
        let later: Timestamp = "2026-11-15T23:59:59.501Z".parse().unwrap();
        assert_eq!(new_id(at, 0), "20261115-235959-g0000000");
        assert_eq!(new_id(at, u64::MAX), "20261115-235959-g0zzzzzz");
        assert!(new_id(later, 0) > new_id(at, u64::MAX));
        assert!(is_id(&new_id(at, 0x1234_5678_9abc_def0)));
    }

    #[test]
    fn ids_of_both_forms_are_recognised_and_nothing_else() {
        for id in ["20261116-125252-9ed6f3", "20261116-125252-g4k7m2xq"] {
            assert!(is_id(id), "{id}");
        }
        for name in [
            "",
            "..",
            ".removing-20261115-235959-800abc",
            "20261115-235959",
            "20261115-235959-800ab/",
            "20261115-235959-800abc-1",
            "20261115-235959-8o0abcde",
            "2026111x-235959-800abc",
        ] {
            assert!(!is_id(name), "{name}");
        }
    }

    #[test]
    fn the_short_part_fits_before_the_whole_id() {
        let id = "20261116-125252-2026m1xq";
        assert_eq!(short_run_id(id), "2026m1xq");
        for (typed, fits) in [
            (id, Some(Match::Exact)),
            ("2026m1xq", Some(Match::Short)),
            ("2026MLXQ", Some(Match::Short)),
            ("2026", Some(Match::ShortBeginning)),
            ("20261116-12", Some(Match::Beginning)),
            ("m1xq", None),
            ("", None),
            ("..", None),
            ("2026m1xqq", None),
        ] {
            assert_eq!(match_id(id, typed), fits, "{typed}");
        }
    }
}
