//! How much is found, and how much is found where there is nothing.

#![expect(
    clippy::unwrap_used,
    reason = "a tree that cannot be read has to fail the test"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_run::Redactor;

const PER_FORMAT: usize = 25;

const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64_URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const DIGITS: &str = "0123456789";

enum Part {
    Fixed(&'static str),
    Random(&'static str, usize),
}

use Part::{Fixed, Random};

/// As the vendors hand them out: kind, and what a token is made of. The first parts that are public stay outside.
fn formats() -> Vec<(&'static str, Vec<Part>)> {
    vec![
        (
            "anthropic",
            vec![Fixed("sk-ant-api03-"), Random(BASE64_URL, 93), Fixed("AA")],
        ),
        ("anthropic", vec![Fixed("sk-ant-oat01-"), Random(BASE64_URL, 95)]),
        (
            "openai",
            vec![
                Fixed("sk-proj-"),
                Random(BASE64_URL, 74),
                Fixed("T3BlbkFJ"),
                Random(BASE64_URL, 74),
            ],
        ),
        ("openai", vec![Fixed("sk-svcacct-"), Random(BASE64_URL, 100)]),
        (
            "api-key",
            vec![
                Fixed("sk-"),
                Random(ALPHANUMERIC, 20),
                Fixed("T3BlbkFJ"),
                Random(ALPHANUMERIC, 20),
            ],
        ),
        ("api-key", vec![Fixed("sk-"), Random(HEX, 32)]),
        ("openrouter", vec![Fixed("sk-or-v1-"), Random(HEX, 64)]),
        ("github", vec![Fixed("ghp_"), Random(ALPHANUMERIC, 36)]),
        ("github", vec![Fixed("gho_"), Random(ALPHANUMERIC, 36)]),
        ("github", vec![Fixed("ghs_"), Random(ALPHANUMERIC, 36)]),
        (
            "github",
            vec![
                Fixed("github_pat_"),
                Random(ALPHANUMERIC, 22),
                Fixed("_"),
                Random(ALPHANUMERIC, 59),
            ],
        ),
        ("gitlab", vec![Fixed("glpat-"), Random(BASE64_URL, 20)]),
        (
            "slack",
            vec![
                Fixed("xoxb-"),
                Random(DIGITS, 12),
                Fixed("-"),
                Random(DIGITS, 13),
                Fixed("-"),
                Random(ALPHANUMERIC, 24),
            ],
        ),
        (
            "slack",
            vec![
                Fixed("xapp-1-A"),
                Random(UPPER, 10),
                Fixed("-"),
                Random(DIGITS, 13),
                Fixed("-"),
                Random(HEX, 64),
            ],
        ),
        (
            "slack-webhook",
            vec![
                Fixed("hooks.slack.com/services/T"),
                Random(UPPER, 8),
                Fixed("/B"),
                Random(UPPER, 8),
                Fixed("/"),
                Random(ALPHANUMERIC, 24),
            ],
        ),
        (
            "discord-webhook",
            vec![
                Fixed("discord.com/api/webhooks/"),
                Random(DIGITS, 18),
                Fixed("/"),
                Random(BASE64_URL, 68),
            ],
        ),
        ("aws-access-key", vec![Fixed("AKIA"), Random(BASE32, 16)]),
        ("aws-access-key", vec![Fixed("ASIA"), Random(BASE32, 16)]),
        ("google-api-key", vec![Fixed("AIza"), Random(BASE64_URL, 35)]),
        ("google-oauth", vec![Fixed("ya29."), Random(BASE64_URL, 120)]),
        ("google-oauth", vec![Fixed("GOCSPX-"), Random(BASE64_URL, 28)]),
        (
            "jwt",
            vec![
                Fixed("eyJhbGciOiJIUzI1NiJ9.eyJ"),
                Random(BASE64_URL, 60),
                Fixed("."),
                Random(BASE64_URL, 43),
            ],
        ),
        ("npm", vec![Fixed("npm_"), Random(ALPHANUMERIC, 36)]),
        (
            "pypi",
            vec![Fixed("pypi-AgEIcHlwaS5vcmc"), Random(BASE64_URL, 150)],
        ),
        ("crates-io", vec![Fixed("cio"), Random(ALPHANUMERIC, 32)]),
        ("rubygems", vec![Fixed("rubygems_"), Random(HEX, 48)]),
        ("nuget", vec![Fixed("oy2"), Random(LOWER, 43)]),
        ("huggingface", vec![Fixed("hf_"), Random(ALPHANUMERIC, 34)]),
        ("groq", vec![Fixed("gsk_"), Random(ALPHANUMERIC, 52)]),
        ("xai", vec![Fixed("xai-"), Random(ALPHANUMERIC, 80)]),
        ("perplexity", vec![Fixed("pplx-"), Random(ALPHANUMERIC, 48)]),
        ("replicate", vec![Fixed("r8_"), Random(ALPHANUMERIC, 37)]),
        (
            "langsmith",
            vec![Fixed("lsv2_pt_"), Random(HEX, 32), Fixed("_"), Random(HEX, 10)],
        ),
        ("stripe", vec![Fixed("sk_live_"), Random(ALPHANUMERIC, 24)]),
        ("stripe", vec![Fixed("rk_test_"), Random(ALPHANUMERIC, 99)]),
        ("stripe", vec![Fixed("whsec_"), Random(ALPHANUMERIC, 32)]),
        (
            "sendgrid",
            vec![
                Fixed("SG."),
                Random(BASE64_URL, 22),
                Fixed("."),
                Random(BASE64_URL, 43),
            ],
        ),
        ("mailgun", vec![Fixed("key-"), Random(HEX, 32)]),
        ("digitalocean", vec![Fixed("dop_v1_"), Random(HEX, 64)]),
        ("shopify", vec![Fixed("shpat_"), Random(HEX, 32)]),
        ("square", vec![Fixed("sq0atp-"), Random(BASE64_URL, 22)]),
        ("databricks", vec![Fixed("dapi"), Random(HEX, 32)]),
        ("docker", vec![Fixed("dckr_pat_"), Random(BASE64_URL, 27)]),
        ("vault", vec![Fixed("hvs."), Random(BASE64_URL, 90)]),
        ("linear", vec![Fixed("lin_api_"), Random(ALPHANUMERIC, 40)]),
        ("notion", vec![Fixed("ntn_"), Random(ALPHANUMERIC, 46)]),
        ("notion", vec![Fixed("secret_"), Random(ALPHANUMERIC, 43)]),
        ("figma", vec![Fixed("figd_"), Random(BASE64_URL, 40)]),
        (
            "grafana",
            vec![
                Fixed("glsa_"),
                Random(ALPHANUMERIC, 32),
                Fixed("_"),
                Random(HEX, 8),
            ],
        ),
        ("newrelic", vec![Fixed("NRAK-"), Random(UPPER, 27)]),
        (
            "postman",
            vec![Fixed("PMAK-"), Random(HEX, 24), Fixed("-"), Random(HEX, 34)],
        ),
        ("pulumi", vec![Fixed("pul-"), Random(HEX, 40)]),
        ("planetscale", vec![Fixed("pscale_tkn_"), Random(BASE64_URL, 43)]),
        ("supabase", vec![Fixed("sbp_"), Random(HEX, 40)]),
        (
            "atlassian",
            vec![
                Fixed("ATATT3xFfGF0"),
                Random(BASE64_URL, 171),
                Fixed("="),
                Random(UPPER, 8),
            ],
        ),
        ("doppler", vec![Fixed("dp.pt."), Random(ALPHANUMERIC, 43)]),
        ("fly", vec![Fixed("fm2_"), Random(BASE64, 120)]),
        ("sentry", vec![Fixed("sntrys_"), Random(BASE64, 120)]),
        ("sourcegraph", vec![Fixed("sgp_"), Random(HEX, 40)]),
        (
            "tailscale",
            vec![
                Fixed("tskey-auth-k"),
                Random(ALPHANUMERIC, 16),
                Fixed("-"),
                Random(ALPHANUMERIC, 32),
            ],
        ),
        ("age", vec![Fixed("AGE-SECRET-KEY-1"), Random(UPPER, 58)]),
        ("heroku", vec![Fixed("HRKU-"), Random(BASE64_URL, 60)]),
        ("twilio", vec![Fixed("SK"), Random(HEX, 32)]),
        (
            "dynatrace",
            vec![Fixed("dt0c01."), Random(UPPER, 24), Fixed("."), Random(UPPER, 64)],
        ),
        ("netlify", vec![Fixed("nfp_"), Random(ALPHANUMERIC, 36)]),
        ("buildkite", vec![Fixed("bkua_"), Random(HEX, 40)]),
        (
            "circleci",
            vec![
                Fixed("CCIPAT_"),
                Random(ALPHANUMERIC, 22),
                Fixed("_"),
                Random(HEX, 40),
            ],
        ),
        ("contentful", vec![Fixed("CFPAT-"), Random(BASE64_URL, 43)]),
        ("sonarqube", vec![Fixed("squ_"), Random(HEX, 40)]),
        ("prefect", vec![Fixed("pnu_"), Random(ALPHANUMERIC, 36)]),
    ]
}

/// What precedes a secret and stays, and what it is made of.
fn formats_that_keep_their_beginning() -> Vec<(&'static str, &'static str, Vec<Part>)> {
    vec![
        (
            "aws-secret-key",
            "aws_secret_access_key = ",
            vec![Random(BASE64, 40)],
        ),
        (
            "aws-secret-key",
            "\"SecretAccessKey\": \"",
            vec![Random(BASE64, 40)],
        ),
        ("azure", "AccountKey=", vec![Random(BASE64, 86), Fixed("==")]),
        ("bearer", "Authorization: Bearer ", vec![Random(BASE64_URL, 48)]),
        (
            "basic-auth",
            "Authorization: Basic ",
            vec![Random(ALPHANUMERIC, 32)],
        ),
        ("url-password", "https://user:", vec![Random(ALPHANUMERIC, 16)]),
        ("url-password", "postgres://app:", vec![Random(ALPHANUMERIC, 20)]),
        (
            "terraform",
            "abcDEF12345678",
            vec![Fixed(".atlasv1."), Random(ALPHANUMERIC, 67)],
        ),
        (
            "telegram",
            "123456789:",
            vec![Fixed("AA"), Random(ALPHANUMERIC, 33)],
        ),
        (
            "password",
            "password=",
            vec![Fixed("x7"), Random(ALPHANUMERIC, 12)],
        ),
        (
            "password",
            "passwd: ",
            vec![Fixed("x7"), Random(ALPHANUMERIC, 12)],
        ),
        (
            "password",
            "--password ",
            vec![Fixed("x7"), Random(ALPHANUMERIC, 12)],
        ),
        (
            "password",
            "PGPASSWORD=",
            vec![Fixed("x7"), Random(ALPHANUMERIC, 12)],
        ),
        (
            "password",
            "\"db_password\": \"",
            vec![Fixed("x7"), Random(ALPHANUMERIC, 12)],
        ),
        ("datadog", "DD_API_KEY=", vec![Random(HEX, 32)]),
        (
            "azure-sas",
            "https://a.example/?sv=1&sig=",
            vec![Random(ALPHANUMERIC, 43), Fixed("%3D")],
        ),
    ]
}

/// The same numbers each time, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn token(&mut self, parts: &[Part]) -> String {
        let mut token = String::new();
        for part in parts {
            match part {
                Fixed(text) => token.push_str(text),
                Random(alphabet, length) => {
                    token.extend(
                        (0..*length).map(|_| char::from(alphabet.as_bytes()[self.roll(alphabet.len())])),
                    );
                }
            }
        }
        token
    }
}

const SURROUNDINGS: [(&str, &str); 8] = [
    ("", ""),
    ("export KEY=", "\n"),
    ("{\"key\": \"", "\"}"),
    ("first line\n", "\nlast line"),
    ("https://example.com/?token=", "&x=1"),
    ("the key (", ") is wrong"),
    ("\tkey: '", "',"),
    ("-H 'X-Api-Key:", "'"),
];

/// The text, as text and as a line of the journal, after redaction.
fn seen(redactor: &Redactor, text: &str) -> [String; 2] {
    let mut line = serde_json::to_vec(&serde_json::json!({ "seq": 1, "text": text })).unwrap();
    redactor.redact_json_line(&mut line);
    let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
    [
        redactor.redact(text).into_owned(),
        line["text"].as_str().unwrap().to_owned(),
    ]
}

#[test]
fn of_every_kind_of_token_at_least_99_percent_are_found() {
    let redactor = Redactor::new([], [""; 0]).unwrap();
    let mut dice = Dice(1);
    let mut tried: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    let mut check = |kind: &str, secret: &str, text: &str| {
        let (all, missed) = tried.entry(kind.to_owned()).or_default();
        for seen in seen(&redactor, text) {
            *all += 1;
            if seen.contains(secret) || !seen.contains(&format!("[redacted:{kind}]")) {
                missed.push(seen);
            }
        }
    };
    for _ in 0..PER_FORMAT {
        for (before, after) in SURROUNDINGS {
            for (kind, parts) in formats() {
                let token = dice.token(&parts);
                check(kind, &token, &format!("{before}{token}{after}"));
            }
            for (kind, beginning, parts) in formats_that_keep_their_beginning() {
                let secret = dice.token(&parts);
                let end = if kind == "url-password" { "@host/" } else { "" };
                check(kind, &secret, &format!("{before}{beginning}{secret}{end}{after}"));
            }
        }
    }
    for (kind, (all, missed)) in tried {
        assert!(
            missed.len() * 100 <= all,
            "{kind}: {} of {all} missed:\n{}",
            missed.len(),
            missed.join("\n")
        );
    }
}

#[test]
fn there_are_at_least_60_kinds() {
    let mut kinds: Vec<&str> = formats().into_iter().map(|(kind, _)| kind).collect();
    kinds.extend(formats_that_keep_their_beginning().iter().map(|(kind, ..)| *kind));
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 60, "{}", kinds.len());
}

#[test]
fn the_source_of_this_project_has_no_secrets() {
    let redactor = Redactor::new([], [""; 0]).unwrap();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()];
    let (mut bytes, mut hits) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                bytes += text.len();
                let found = redactor.redact(&text);
                let lines = found
                    .lines()
                    .filter(|line| line.contains("[redacted:") && !text.contains(*line));
                hits.extend(lines.map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    let allowed = bytes.div_ceil(10_000_000);
    assert!(bytes > 500_000, "{bytes}");
    assert!(
        hits.len() <= allowed,
        "{} hits in {bytes} bytes:\n{}",
        hits.len(),
        hits.join("\n")
    );
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}
