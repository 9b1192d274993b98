import { answered, asks, isFinished, text, thinking, toolResult, toolUse, works } from './dialect';
import { JournalWriter } from './journal';
import type { Script } from './script';
import type { Stage } from './stage';

/** Where the work is, as far as anybody is told: nothing of where the tests run belongs into a document. */
const HOME = '/home/you/projects';

/** A change of a file, as the agent tells it: one hunk, from its first line on. */
function edit(script: Script, id: string, path: string, lines: string[]): void {
  const without = (mark: string) =>
    lines.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1));
  const [before, after] = [without('+'), without('-')];
  const counts = { oldStart: 1, oldLines: before.length, newStart: 1, newLines: after.length };
  const [filePath, oldString, newString] = [`${HOME}/greeter/${path}`, before.join('\n'), after.join('\n')];
  const twin = { filePath, oldString, newString, structuredPatch: [{ ...counts, lines }] };
  script
    .emit(toolUse(id, 'Edit', { file_path: filePath, old_string: oldString, new_string: newString }))
    .pause(140)
    .emit(toolResult(id, 'The file has been updated.', { twin }));
}

const TODOS = [
  { content: 'Read the failing test', status: 'completed', activeForm: 'Reading' },
  { content: 'Greet by name', status: 'in_progress', activeForm: 'Fixing' },
  { content: 'Run all tests', status: 'pending', activeForm: 'Running' },
];
const FAILURE = `Exit code 101
\u001b[31mtest greets_by_name ... FAILED\u001b[0m
  left: "Helo Ada"
 right: "Hello, Ada!"`;
const FAULTS = `The greeting has **two faults**:

1. \`Helo\` lacks a letter
2. the comma and the exclamation mark are missing`;

/** Some of everything that a run can show. It waits for a permission, and then for the gate. */
export function showsEverything(gate: string): Script {
  const file = `${HOME}/greeter/src/greet.rs`;
  const script = works()
    .emit(thinking('The test names a function that I should read before I change anything.'))
    .emit(text('I will look at the **failing test** first, then at `greet`.'))
    .emit(toolUse('todo', 'TodoWrite', { todos: TODOS }))
    .pause(20)
    .emit(toolResult('todo', 'Todos have been modified.'), toolUse('read', 'Read', { file_path: file }))
    .pause(60)
    .emit(
      toolResult(
        'read',
        '     1→pub fn greet(name: &str) -> String {\n     2→    format!("Helo {name}")\n     3→}',
      ),
    )
    .emit(toolUse('grep', 'Grep', { pattern: 'Helo' }))
    .pause(90)
    .emit(toolResult('grep', `${file}:2:    format!("Helo {name}")`));
  edit(script, 'docs', 'README.md', [
    ' # greeter',
    ' ',
    '-Prints `Helo NAME`.',
    '+Prints `Hello, NAME!`. Blanks around the name do not matter.',
  ]);
  edit(script, 'test', 'tests/greet.rs', [
    ' use greeter::greet;',
    ' ',
    '+#[test]',
    '+fn blanks_around_the_name_do_not_matter() {',
    '+    assert_eq!(greet(" Ada "), greet("Ada"));',
    '+}',
    '+',
    ' #[test]',
    ' fn greets_by_name() {',
    '     assert_eq!(greet("Ada"), "Hello, Ada!");',
    ' }',
  ]);
  script
    .emit(toolUse('fail', 'Bash', { command: 'cargo test', description: 'Run the tests' }))
    .pause(2_300)
    .emit(toolResult('fail', FAILURE, { isError: true }), text(FAULTS));
  edit(script, 'greet', 'src/greet.rs', [
    ' pub fn greet(name: &str) -> String {',
    '-    format!("Helo {name}")',
    '+    format!("Hello, {}!", name.trim())',
    ' }',
  ]);
  const input = { command: 'cargo test --workspace', description: 'Run all tests' };
  return script
    .emit(toolUse('toolu_run', 'Bash', input), asks('run', 'Bash', input))
    .expectLine(answered('run'))
    .waitForFile(gate)
    .and(isFinished());
}

interface Ended {
  title: string;
  place: string;
  hoursAgo: number;
  minutes: number;
  iterations: number;
  microUsd: number;
  /** How it ended, where it is not completed. */
  end?: object;
}

const STOPPED = { reason: 'stopped', exit_code: 130 };
const FAILED = { reason: 'verify_failed', exit_code: 1 };

/** Runs of the last days, of which the list tells. */
const ENDED: Ended[] = [
  {
    title: 'Move the settings page to the new design',
    place: 'website',
    hoursAgo: 2,
    minutes: 23.4,
    iterations: 4,
    microUsd: 1_834_200,
  },
  {
    title: 'Find out why the nightly import takes an hour',
    place: 'importer',
    hoursAgo: 5,
    minutes: 41.2,
    iterations: 10,
    microUsd: 3_407_100,
    end: FAILED,
  },
  {
    title: 'Translate the error messages',
    place: 'website',
    hoursAgo: 26,
    minutes: 6.1,
    iterations: 1,
    microUsd: 412_700,
    end: STOPPED,
  },
  {
    title: 'Replace the hand-written date parser',
    place: 'importer',
    hoursAgo: 30,
    minutes: 12.9,
    iterations: 2,
    microUsd: 965_500,
  },
];

export function writeEndedRuns(stage: Stage): void {
  for (const [at, { title, place, hoursAgo, minutes, iterations, microUsd, end }] of ENDED.entries()) {
    const began = new Date(Date.now() - hoursAgo * 3_600_000);
    const [day, time] = began
      .toISOString()
      .replaceAll(/[-:]|\..*/g, '')
      .split('T');
    const id = `${day}-${time}-00000${at}`;
    const journal = new JournalWriter(stage, id, began.getTime(), title, `${HOME}/${place}`);
    for (let number = 2; number <= iterations; number += 1) {
      journal.own('iteration_started', { number, prompt: title });
    }
    journal.agent('session_started', { model: 'claude-opus-5-5' });
    journal.agent('text_block', { item: 'm1/0', text: 'It is done.' });
    journal.pass(minutes * 60_000).end({ iterations, ...end }, { cost: microUsd });
  }
}
