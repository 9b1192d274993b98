# Checks this machine: builds the crates, runs the examples against the demo agent and, with SMOKE_REAL=1, one prompt
# against Claude Code if it is installed (it must be logged in; costs a few cents). Exit code 0: all is well.
# The demo agent and one example run `sh`: have that of Git for Windows in PATH.
$ErrorActionPreference = 'Stop'
Set-Location (Join-Path $PSScriptRoot '../..')
$env:CARGO_TERM_COLOR = 'never'
$target = if ($env:CARGO_TARGET_DIR) { $env:CARGO_TARGET_DIR } else { 'target' }
$examples = Join-Path $target 'debug/examples'

function Step($what) { Write-Output "smoke: == $what" }

function Fail($what) {
    [Console]::Error.WriteLine("smoke: FAILED: $what")
    exit 1
}

Step 'build'
cargo build --locked -p agent_process -p claude_code -p agent_api
if ($LASTEXITCODE -ne 0) { Fail 'the build of the crates' }
cargo build --locked -p agent_api --examples
if ($LASTEXITCODE -ne 0) { Fail 'the build of the examples' }

if (-not (Get-Command sh -ErrorAction SilentlyContinue)) {
    Fail 'there is no sh in PATH: add the folder usr\bin of Git for Windows'
}
foreach ($name in 'stream', 'permissions', 'add_backend', 'smoke') {
    Step "$name, no agent needed"
    & (Join-Path $examples "$name.exe")
    if ($LASTEXITCODE -ne 0) { Fail "the example $name" }
}

if ($env:SMOKE_REAL -ne '1') {
    Step 'done; SMOKE_REAL=1 would also ask the real Claude Code'
    exit 0
}
$claude = Get-Command claude -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
if (-not $claude) {
    Fail 'SMOKE_REAL=1, but there is no claude in PATH: npm install -g @anthropic-ai/claude-code'
}
Step "one prompt to the real $(& $claude.Source --version)"
& (Join-Path $examples 'smoke.exe') $claude.Source
if ($LASTEXITCODE -ne 0) { Fail 'the real Claude Code; not logged in? run claude and type /login' }
Step 'done'
