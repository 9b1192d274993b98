import type { ToolCall } from '../run/tool-call';

const DIFF = `@@ -10,6 +10,8 @@ impl Server {
     pub fn start(&self) -> Result<()> {
         let listener = self.bind()?;
-        self.accept(listener, Duration::from_secs(30))
+        let timeout = self.settings.timeout;
+        self.accept(listener, timeout)
+            .context("the server could not start")
     }
 
     fn bind(&self) -> Result<Listener> {
@@ -40,3 +42,2 @@
 }
-// old
 // end
`;

const FILE = Array.from(
  { length: 70 },
  (_, at) =>
    `${String(at + 21).padStart(6)}→${at % 9 === 0 ? '/// Says hello.' : `    let answer_${at} = compute("value", ${at}).await?;`}`,
).join('\n');

const LONG_FILE = Array.from(
  { length: 4_000 },
  (_, at) => `${String(at + 1).padStart(6)}→    let value_${at + 1} = read("${'x'.repeat(at % 90)}")?;`,
).join('\n');

const TESTS = `\u001b[1m RUN \u001b[0m v4.1.12\n${Array.from({ length: 60 }, (_, at) => ` \u001b[32m✓\u001b[39m src/part-${at}.test.ts \u001b[2m(${at} tests)\u001b[22m 12ms`).join('\n')}\n \u001b[31m✗ src/bad.test.ts\u001b[39m\n\u001b[31mAssertionError: expected 1 to be 2\u001b[0m\n\n Tests  1 failed | 60 passed`;

export const markdownText = `# What was done

The **server** now reads its \`timeout\` from the settings. See [the docs](https://example.org/docs) and ![a picture](https://example.org/x.png).

1. Read the code
2. Changed \`Server::start\`
   - with a nested point
3. Ran the tests

| Suite | Tests | Result |
|---|---:|---|
| unit | 120 | ok |
| e2e | 14 | **1 failed** |

\`\`\`rust
fn main() -> Result<()> {
    let server = Server::new("127.0.0.1:0")?; // any port
    server.start()
}
\`\`\`

> A quote of somebody.

- [x] build
- [ ] release
`;

/** Calls of all kinds and states. */
export const calls: Partial<ToolCall>[] = [
  {
    name: 'Edit',
    kind: 'edit',
    subject: 'src/server.rs',
    changes: [{ path: 'src/server.rs', kind: 'modified', diff: DIFF, lines: [3, 2] }],
  },
  {
    name: 'Edit',
    kind: 'edit',
    state: 'running',
    subject: 'src/app.ts',
    input: {
      file_path: 'src/app.ts',
      old_string: 'const a = one();',
      new_string: 'const a = two();\nconst b = 3;',
    },
  },
  {
    name: 'Write',
    kind: 'edit',
    state: 'preparing',
    input: null,
    partialInput: '{"file_path": "docs/guide.md", "content": "# Guide\\n\\nThis is',
  },
  {
    name: 'Edit',
    kind: 'edit',
    state: 'failed',
    subject: 'src/lost.rs',
    input: { file_path: 'src/lost.rs', old_string: 'a', new_string: 'b' },
    output: 'String to replace not found in file.',
  },
  {
    name: 'file_change',
    kind: 'edit',
    subject: 'a.rs, b.rs',
    input: {
      changes: [
        { path: 'a.rs', kind: 'add' },
        { path: 'b.rs', kind: 'update' },
      ],
    },
  },
  {
    name: 'Read',
    kind: 'read',
    subject: 'src/answer.rs',
    input: { file_path: 'src/answer.rs', offset: 21, limit: 70 },
    output: FILE,
  },
  {
    name: 'Read',
    kind: 'read',
    subject: 'long.rs',
    input: { file_path: 'long.rs' },
    output: LONG_FILE,
  },
  {
    name: 'Read',
    kind: 'read',
    subject: 'shot.png',
    attachments: ['image/png, 48213 bytes'],
    raw: [{ iteration: 1, attempt: 1, offset: 0, length: 100 }],
  },
  {
    name: 'Bash',
    kind: 'execute',
    state: 'failed',
    exitCode: 1,
    subject: 'npm test',
    input: { command: 'npm test -- --run', description: 'Run all tests', timeout: 120000 },
    output: TESTS,
  },
  {
    name: 'Bash',
    kind: 'execute',
    state: 'running',
    subject: 'cargo build',
    input: { command: 'cargo build --workspace &&\n  cargo nextest run' },
    output: '   Compiling ralph v0.1.0\n',
  },
  {
    name: 'Bash',
    kind: 'execute',
    state: 'background',
    input: { command: 'npm run dev', run_in_background: true },
    output: 'Command running in background with ID: b1',
  },
  {
    name: 'Bash',
    kind: 'execute',
    state: 'denied',
    subject: 'rm -rf /',
    input: { command: 'rm -rf /' },
    output: 'The user does not allow this.',
  },
  { name: 'Bash', kind: 'execute', state: 'waiting', subject: 'git push', input: { command: 'git push' } },
  {
    name: 'Bash',
    kind: 'execute',
    input: { command: 'cat big.log' },
    output: `first\n${'x'.repeat(300)}\n…(9999744 bytes omitted)…\nlast`,
    outputBytes: 10_000_000,
    raw: [{ iteration: 1, attempt: 1, offset: 0, length: 10_100_000 }],
  },
  {
    name: 'Grep',
    kind: 'search',
    subject: 'fn start',
    input: { pattern: 'fn start', path: 'src', output_mode: 'content' },
    output:
      'src/server.rs:10:    pub fn start(&self) -> Result<()> {\nsrc/server.rs-11-        let listener\nsrc/client.rs:4:fn start() {',
  },
  {
    name: 'Glob',
    kind: 'search',
    subject: '**/*.ts',
    input: { pattern: '**/*.ts' },
    output: 'src/a.ts\nsrc/b.ts\nsrc/c/d.ts',
  },
  {
    name: 'WebFetch',
    kind: 'fetch',
    subject: 'https://example.org',
    input: { url: 'https://example.org/page', prompt: 'What is new?' },
    output: '## News\n\n- one\n- two',
  },
  {
    name: 'WebSearch',
    kind: 'web_search',
    input: { query: 'rust websocket ping', allowed_domains: ['docs.rs'] },
    output: 'Tungstenite https://docs.rs/tungstenite\nAxum https://docs.rs/axum',
  },
  {
    name: 'Task',
    kind: 'agent',
    subject: 'Find callers',
    input: {
      description: 'Find callers of start',
      prompt: 'Look for all callers of `start` and list them.',
      subagent_type: 'Explore',
    },
    output: 'There are **two** callers.',
  },
  {
    name: 'TodoWrite',
    kind: 'plan',
    input: {
      todos: [
        { content: 'Read the code', status: 'completed' },
        { content: 'Change the timeout', status: 'in_progress' },
        { content: 'Run the tests', status: 'pending' },
        { content: 'Old idea', status: 'cancelled' },
      ],
    },
  },
  {
    name: 'mcp__tracker__create_issue',
    kind: 'mcp',
    mcpServer: 'tracker',
    input: { title: 'Timeout is fixed', labels: ['bug'] },
    output: '{"id": 12, "url": "https://example.org/12"}',
  },
  {
    name: 'AskUserQuestion',
    kind: 'question',
    state: 'waiting',
    input: {
      questions: [
        {
          question: 'Which timeout should be the default?',
          header: 'Timeout',
          options: [{ label: '30 s', description: 'as now' }, { label: '60 s' }],
        },
      ],
    },
  },
  {
    name: 'ExitPlanMode',
    kind: 'switch_mode',
    state: 'waiting',
    input: { plan: '## Plan\n\n1. Change the settings\n2. Test them' },
  },
  { name: 'delete_file', kind: 'delete', subject: 'old.txt', input: { path: 'old.txt' }, output: 'deleted' },
  {
    name: 'move_file',
    kind: 'move',
    subject: 'a.txt',
    state: 'cancelled',
    input: { source: 'a.txt', destination: 'b.txt' },
  },
  {
    name: 'SomethingNew',
    kind: 'other',
    subject:
      'a subject that is so long that it does not fit into the line of the heading of the card, whatever the screen is',
    input: { depth: 3, list: [1, 2, 3] },
    output: 'fine',
  },
];
