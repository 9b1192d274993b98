//! `KINDS`: the well-known kinds of tokens that `Redactor` finds, by prefix and shape.

use super::shape::{Needs, Run, Shape, is_base64_url, password};

#[derive(Debug)]
pub(super) struct Kind {
    /// As in `[redacted:github]`.
    pub(super) name: &'static str,
    pub(super) prefixes: &'static [&'static str],
    pub(super) shape: Shape,
}

const fn kind(name: &'static str, prefixes: &'static [&'static str], shape: Shape) -> Kind {
    Kind {
        name,
        prefixes,
        shape,
    }
}

const fn open(alphabet: fn(u8) -> bool, min: usize) -> Run {
    Run {
        alphabet,
        min,
        max: usize::MAX,
        needs: Needs::Variety,
    }
}

const fn token(alphabet: fn(u8) -> bool, min: usize) -> Shape {
    Shape::Token(open(alphabet, min))
}

const fn exact(alphabet: fn(u8) -> bool, length: usize) -> Shape {
    Shape::Token(Run {
        alphabet,
        min: length,
        max: length,
        needs: Needs::Variety,
    })
}

/// With a digit, because the prefix alone says too little.
const fn with_digit(alphabet: fn(u8) -> bool, min: usize, max: usize) -> Run {
    Run {
        alphabet,
        min,
        max,
        needs: Needs::Digit,
    }
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

fn hex_dashed(byte: u8) -> bool {
    hex(byte) || byte == b'-'
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_lowercase()
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn dotted(byte: u8) -> bool {
    is_base64_url(byte) || byte == b'.'
}

fn path(byte: u8) -> bool {
    is_base64_url(byte) || byte == b'/'
}

fn percent(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'-' | b'_')
}

/// What can be in an `Authorization` header.
fn credentials(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// The prefixes are the vendors' own; lengths are a little below what they hand out, so that a longer or shorter
/// generation of tokens is still found.
pub(super) static KINDS: &[Kind] = &[
    kind("anthropic", &["sk-ant-"], token(is_base64_url, 20)),
    kind(
        "openai",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        token(is_base64_url, 20),
    ),
    kind("openrouter", &["sk-or-v1-"], token(hex, 32)),
    kind(
        "api-key",
        &["sk-"],
        Shape::Token(with_digit(alphanumeric, 32, usize::MAX)),
    ),
    kind(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        token(word, 30),
    ),
    kind("github", &["github_pat_"], token(word, 40)),
    kind(
        "gitlab",
        &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-",
        ],
        token(dotted, 20),
    ),
    kind(
        "slack",
        &[
            "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
        ],
        Shape::Token(with_digit(dotted, 20, usize::MAX)),
    ),
    kind("slack-webhook", &["hooks.slack.com/services/"], token(path, 30)),
    kind(
        "discord-webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        token(path, 60),
    ),
    kind(
        "aws-access-key",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        exact(upper, 16),
    ),
    kind(
        "aws-secret-key",
        &[
            "aws_secret_access_key",
            "AWS_SECRET_ACCESS_KEY",
            "SecretAccessKey",
            "secretAccessKey",
        ],
        Shape::Assigned(with_digit(base64, 40, 40)),
    ),
    kind(
        "aws-session-token",
        &["aws_session_token", "AWS_SESSION_TOKEN", "SessionToken"],
        Shape::Assigned(with_digit(base64, 100, usize::MAX)),
    ),
    kind("google-api-key", &["AIza"], exact(is_base64_url, 35)),
    kind("google-oauth", &["ya29."], token(dotted, 20)),
    kind("google-oauth", &["GOCSPX-"], token(is_base64_url, 24)),
    kind("jwt", &["eyJ"], Shape::WebToken),
    kind("npm", &["npm_"], exact(alphanumeric, 36)),
    kind(
        "pypi",
        &["pypi-"],
        Shape::Token(with_digit(is_base64_url, 50, usize::MAX)),
    ),
    kind(
        "crates-io",
        &["cio"],
        Shape::Token(with_digit(alphanumeric, 32, 32)),
    ),
    kind("rubygems", &["rubygems_"], exact(hex, 48)),
    kind("nuget", &["oy2"], Shape::Token(with_digit(lower, 43, 43))),
    kind("huggingface", &["hf_", "api_org_"], token(alphanumeric, 30)),
    kind("groq", &["gsk_"], token(alphanumeric, 40)),
    kind("xai", &["xai-"], token(alphanumeric, 60)),
    kind("perplexity", &["pplx-"], token(alphanumeric, 40)),
    kind("replicate", &["r8_"], token(alphanumeric, 36)),
    kind("langsmith", &["lsv2_pt_", "lsv2_sk_"], token(word, 32)),
    kind(
        "stripe",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        token(alphanumeric, 20),
    ),
    kind("stripe", &["whsec_"], token(base64, 24)),
    kind("sendgrid", &["SG."], token(dotted, 60)),
    kind("mailgun", &["key-"], exact(hex, 32)),
    kind("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], token(hex, 60)),
    kind(
        "shopify",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        token(alphanumeric, 32),
    ),
    kind(
        "square",
        &["sq0atp-", "sq0csp-", "sq0idp-"],
        token(is_base64_url, 22),
    ),
    kind(
        "databricks",
        &["dapi"],
        Shape::Token(with_digit(hex_dashed, 32, 36)),
    ),
    kind("docker", &["dckr_pat_", "dckr_oat_"], token(is_base64_url, 20)),
    kind("vault", &["hvs.", "hvb.", "hvr."], token(is_base64_url, 24)),
    kind("linear", &["lin_api_", "lin_oauth_"], token(alphanumeric, 32)),
    kind("notion", &["ntn_"], token(alphanumeric, 40)),
    kind(
        "notion",
        &["secret_"],
        Shape::Token(with_digit(alphanumeric, 43, 43)),
    ),
    kind("figma", &["figd_"], token(is_base64_url, 36)),
    kind("grafana", &["glsa_"], token(word, 36)),
    kind(
        "grafana",
        &["glc_"],
        Shape::Token(with_digit(base64, 32, usize::MAX)),
    ),
    kind("newrelic", &["NRAK-"], token(upper, 26)),
    kind("postman", &["PMAK-"], token(hex_dashed, 50)),
    kind("pulumi", &["pul-"], exact(hex, 40)),
    kind(
        "planetscale",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        token(dotted, 32),
    ),
    kind("supabase", &["sbp_"], token(hex, 40)),
    kind("supabase", &["sb_secret_"], token(is_base64_url, 20)),
    kind("atlassian", &["ATATT3x", "ATCTT3x"], token(credentials, 50)),
    kind("doppler", &["dp.pt.", "dp.st.", "dp.ct."], token(dotted, 36)),
    kind("fly", &["fm1r_", "fm2_"], token(base64, 40)),
    kind("sentry", &["sntrys_", "sntryu_"], token(credentials, 40)),
    kind("sourcegraph", &["sgp_"], token(word, 40)),
    kind(
        "tailscale",
        &["tskey-"],
        Shape::Token(with_digit(is_base64_url, 20, usize::MAX)),
    ),
    kind("1password", &["ops_eyJ"], token(is_base64_url, 100)),
    kind("age", &["AGE-SECRET-KEY-1"], token(upper, 50)),
    kind(
        "azure",
        &["AccountKey=", "SharedAccessKey="],
        Shape::Assigned(open(base64, 40)),
    ),
    kind(
        "bearer",
        &["Bearer ", "bearer ", "BEARER "],
        Shape::Assigned(with_digit(credentials, 20, usize::MAX)),
    ),
    kind(
        "basic-auth",
        &[
            "Authorization: Basic ",
            "authorization: Basic ",
            "authorization: basic ",
        ],
        Shape::Assigned(open(base64, 12)),
    ),
    kind(
        "azure-sas",
        &["?sig=", "&sig="],
        Shape::Assigned(open(percent, 40)),
    ),
    kind("heroku", &["HRKU-"], token(is_base64_url, 30)),
    kind(
        "heroku",
        &["HEROKU_API_KEY"],
        Shape::Assigned(with_digit(hex_dashed, 36, 36)),
    ),
    kind(
        "datadog",
        &["DD_API_KEY", "DD_APP_KEY", "DATADOG_API_KEY", "DATADOG_APP_KEY"],
        Shape::Assigned(with_digit(hex, 32, 40)),
    ),
    kind("twilio", &["SK"], Shape::Token(with_digit(hex, 32, 32))),
    kind("terraform", &[".atlasv1."], token(is_base64_url, 60)),
    kind("telegram", &[":AA"], Shape::BotToken),
    kind("dynatrace", &["dt0c01.", "dt0s01."], token(dotted, 80)),
    kind("netlify", &["nfp_"], exact(alphanumeric, 36)),
    kind("buildkite", &["bkua_"], exact(hex, 40)),
    kind("circleci", &["CCIPAT_", "CCIPRJ_"], token(word, 40)),
    kind("contentful", &["CFPAT-"], token(is_base64_url, 43)),
    kind(
        "hubspot",
        &["pat-na1-", "pat-na2-", "pat-eu1-"],
        exact(hex_dashed, 36),
    ),
    kind("sonarqube", &["sqp_", "squ_", "sqa_"], exact(hex, 40)),
    kind("prefect", &["pnu_", "pnb_"], exact(alphanumeric, 36)),
    kind(
        "artifactory",
        &["AKCp"],
        Shape::Token(with_digit(alphanumeric, 60, 80)),
    ),
    kind(
        "password",
        &["--password", "--passwd", "--passphrase"],
        Shape::Assigned(with_digit(password, 8, 128)),
    ),
    kind(
        "password",
        &[
            "password",
            "Password",
            "PASSWORD",
            "passwd",
            "PASSWD",
            "passphrase",
            "PASSPHRASE",
            "PGPASSWORD",
            "MYSQL_PWD",
            "SSHPASS",
        ],
        Shape::Password,
    ),
    kind("private-key", &["-----BEGIN "], Shape::PrivateKey),
    kind("url-password", &["://"], Shape::UrlPassword),
];
