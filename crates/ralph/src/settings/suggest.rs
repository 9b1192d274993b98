//! The known key, variable or word that is most like an unknown one, for `did you mean`.

use std::ffi::OsString;

use yaml_tree::{edit_distance, nearest_word};

use super::table::{SETTINGS, mode_keys};
use super::values::excerpt;

/// The known key that is most like an unknown one. Both are written with their section, as in `cli.backend`.
pub(super) fn nearest_key(unknown: &str) -> Option<String> {
    let (section, leaf) = split(unknown);
    if section.starts_with("modes.") {
        return nearest_word(leaf, mode_keys()).map(|key| format!("{section}.{key}"));
    }
    let keys = SETTINGS
        .iter()
        .flat_map(|setting| [setting.key, setting.short_key]);
    keys.filter(|key| !key.is_empty())
        .filter_map(|key| {
            let (known_section, known_leaf) = split(key);
            let is_elsewhere = known_section != section;
            // The unit at the end of a key is easily forgotten.
            let stem = known_leaf.trim_end_matches("_seconds").trim_end_matches("_usd");
            let distance = edit_distance(leaf, known_leaf)
                .into_iter()
                .chain(edit_distance(leaf, stem))
                .min()?;
            Some((distance, is_elsewhere, key))
        })
        .min_by_key(|(distance, is_elsewhere, _)| (*distance, *is_elsewhere))
        .map(|(.., key)| key.to_owned())
}

/// Variables that are not settings.
const OTHER_VARIABLES: [&str; 6] = [
    crate::diagnostics::VARIABLE,
    "RALPH_RUN_ID",
    // Those of a notification's command.
    "RALPH_EVENT",
    "RALPH_KIND",
    "RALPH_MESSAGE",
    "RALPH_WORKSPACE",
];
const OTHER_PREFIXES: [&str; 2] = ["RALPH_SERVER_", "RALPH_TEST_"];

/// A warning for every `RALPH_` variable that ralph does not know.
pub fn unknown_variables(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let known = || {
        SETTINGS
            .iter()
            .map(|setting| setting.variable)
            .chain(OTHER_VARIABLES)
    };
    let is_unknown = |name: &String| {
        name.starts_with("RALPH_")
            && !known().any(|known| known == name)
            && !OTHER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let names = names.filter_map(|name| name.into_string().ok());
    let mut unknown: Vec<String> = names.filter(is_unknown).collect();
    unknown.sort();
    let warning = |name: &String| {
        let near = nearest_word(name, known().filter(|name| !name.is_empty()));
        let hint = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
        format!("unknown variable `{}`{hint}", excerpt(name))
    };
    unknown.iter().map(warning).collect()
}

fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

#[cfg(test)]
mod tests {
    use super::{nearest_key, unknown_variables};

    #[test]
    fn a_misspelt_variable_is_a_warning_with_the_nearest_one() {
        let names = [
            "RALPH_MAX_ITERATION",
            "RALPH_MODEL",
            "RALPH_LOG",
            "RALPH_SERVER_TOKEN",
            "RALPH_ZZZZZZZZ",
            "PATH",
        ];
        assert_eq!(
            unknown_variables(names.into_iter().map(Into::into)),
            [
                "unknown variable `RALPH_MAX_ITERATION`, did you mean `RALPH_MAX_ITERATIONS`?",
                "unknown variable `RALPH_ZZZZZZZZ`",
            ]
        );
    }

    #[test]
    fn typing_mistakes_other_sections_and_other_spellings_are_recognised() {
        for (unknown, known) in [
            ("modell", Some("model")),
            ("cli.bakcend", Some("cli.backend")),
            ("bakcend", Some("backend")),
            ("max_iterations", Some("event_loop.max_iterations")),
            ("event_loop.maxIterations", Some("event_loop.max_iterations")),
            ("event_loop.max-iterations", Some("event_loop.max_iterations")),
            ("event_loop.max_runtime", Some("event_loop.max_runtime_seconds")),
            ("max_cost", Some("event_loop.max_cost_usd")),
            ("modes.mine.tool", Some("modes.mine.tools")),
            ("modes.mine.zzz", None),
            ("hats", None),
            ("zzzzzzzz", None),
        ] {
            assert_eq!(nearest_key(unknown).as_deref(), known, "{unknown}");
        }
    }
}
