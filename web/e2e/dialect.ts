import { Script } from './script';

/** Lines as Claude Code writes them, cut down to what the server reads. */

export const SESSION = '00000000-0000-4000-8000-000000000001';
/** Stands for the agent's directory. */
export const PLACE = 'THE_WORKSPACE';
const MODEL = 'claude-opus-5-5';
const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 2048,
  cache_read_input_tokens: 1024,
  output_tokens: 1,
};

let messages = 0;
function nextMessage(): string {
  messages += 1;
  return `msg_${messages}`;
}
const tail = { parent_tool_use_id: null as string | null, session_id: SESSION };

export function init(more: object = {}): object {
  return {
    type: 'system',
    subtype: 'init',
    cwd: PLACE,
    tools: ['Task', 'Bash', 'Edit', 'Read', 'Write'],
    mcp_servers: [],
    model: MODEL,
    permissionMode: 'default',
    slash_commands: [],
    apiKeySource: 'none',
    claude_code_version: '2.1.325',
    output_style: 'default',
    agents: [],
    session_id: SESSION,
    ...more,
  };
}

export function assistant(block: object, id = nextMessage(), parent: string | null = null): object {
  const message = { id, type: 'message', role: 'assistant', model: MODEL, content: [block], usage: USAGE };
  return { type: 'assistant', message, ...tail, parent_tool_use_id: parent };
}

export const text = (words: string, id?: string, parent: string | null = null) =>
  assistant({ type: 'text', text: words }, id, parent);

export const thinking = (words: string) =>
  assistant({ type: 'thinking', thinking: words, signature: 'c2lnbmF0dXJl' });

export const toolUse = (id: string, name: string, input: unknown, parent: string | null = null) =>
  assistant({ type: 'tool_use', id, name, input }, undefined, parent);

interface Result {
  isError?: boolean;
  twin?: unknown;
  parent?: string | null;
}

export function toolResult(id: string, content: unknown, more: Result = {}): object {
  const block = { type: 'tool_result', content, is_error: more.isError ?? false, tool_use_id: id };
  return {
    type: 'user',
    message: { role: 'user', content: [block] },
    ...tail,
    parent_tool_use_id: more.parent ?? null,
    ...(more.twin !== undefined && { tool_use_result: more.twin }),
  };
}

const streamed = (event: object) => ({ type: 'stream_event', event, ...tail });

/** A text as it is written: the beginning of its message, its pieces, and at last the whole block. */
export class StreamedText {
  readonly id = nextMessage();
  private words = '';

  begin(): object[] {
    const message = {
      id: this.id,
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [],
      usage: USAGE,
    };
    return [
      streamed({ type: 'message_start', message }),
      streamed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ];
  }

  piece(words: string): object {
    this.words += words;
    return streamed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } });
  }

  end(): object[] {
    return [
      text(this.words, this.id),
      streamed({ type: 'content_block_stop', index: 0 }),
      streamed({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }),
      streamed({ type: 'message_stop' }),
    ];
  }
}

export function result(words = 'LOOP_COMPLETE', more: object = {}): object {
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 316,
    duration_api_ms: 57,
    num_turns: 1,
    stop_reason: 'end_turn',
    total_cost_usd: 0.0123,
    usage: USAGE,
    modelUsage: {
      [MODEL]: {
        inputTokens: 12,
        outputTokens: 20,
        cacheReadInputTokens: 1024,
        cacheCreationInputTokens: 2048,
        costUSD: 0.0123,
        contextWindow: 1_000_000,
      },
    },
    permission_denials: [],
    terminal_reason: 'completed',
    session_id: SESSION,
    result: words,
    ...more,
  };
}

/** The agent asks whether it may use a tool; a question and a plan are asked the same way. */
export function asks(request: string, tool: string, input: unknown, more: object = {}): object {
  const asked = { subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: `toolu_${request}`, ...more };
  return { type: 'control_request', request_id: request, request: asked };
}

/** What the agent is told when it was answered. */
export const answered = (request: string, response: object = {}) => ({
  type: 'control_response',
  response: { request_id: request, ...(Object.keys(response).length > 0 && { response }) },
});

const isDone = { subtype: 'success', request_id: '${/request_id}', response: {} };
/** Takes part in the protocol: whatever it is told to change, it does. */
const obeys: [object, Script] = [
  { type: 'control_request' },
  new Script().answer({ type: 'control_response', response: isDone }),
];
/** A changed permission mode is told at once, a changed model with the next turn. */
const changesMode: [object, Script] = [
  { type: 'control_request', request: { subtype: 'set_permission_mode' } },
  new Script().answer({ type: 'control_response', response: isDone }).answer({
    type: 'system',
    subtype: 'status',
    status: null,
    permissionMode: '${/request/mode}',
    session_id: SESSION,
  }),
];
const aborted = { subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' };
const interrupts: [object, Script] = [
  { type: 'control_request', request: { subtype: 'interrupt' } },
  new Script().answer({ type: 'control_response', response: isDone }).emit(result('', aborted)),
];

const lifecycle = (state: string) => ({
  type: 'command_lifecycle',
  command_uuid: '${/uuid}',
  state,
  session_id: SESSION,
});
const said = (content: string) => ({ type: 'user', message: { content } });

/** Begins its turn. */
export const works = () => new Script().readLine().emit(init(), text('Working.'));

/** Ends its turn, and leaves when nothing more comes. */
export const isFinished = () => new Script().emit(result()).readToEnd();

/** A conversation: answers each message, but for `slow`, at which it works until it is interrupted; from `changed` on
 * it works with what it was told to. */
export function talks(): Script {
  const changed = { model: 'claude-haiku-5', permissionMode: 'plan' };
  const replies = (more: object = {}) =>
    new Script()
      .answer(lifecycle('started'))
      .emit(init(more))
      .answer(text('You said: ${/message/content}', 'msg_${/uuid}'), lifecycle('completed'))
      .emit(result('ok'));
  const begins = new Script()
    .answer(lifecycle('started'))
    .emit(init())
    .answer(text('This takes a while.', 'msg_${/uuid}'));
  return new Script().converse(
    [said('slow'), begins],
    [said('changed'), replies(changed)],
    [{ type: 'user' }, replies()],
    interrupts,
    changesMode,
    obeys,
  );
}

/** Two questions: one of several choices, and one that takes more than one. */
export const QUESTIONS = {
  questions: [
    {
      question: 'Which colour?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Blue', description: 'Like the sea' },
        { label: 'Red', description: 'Like a fire engine' },
      ],
    },
    {
      question: 'Which rooms?',
      header: 'Rooms',
      multiSelect: true,
      options: [
        { label: 'Kitchen', description: '' },
        { label: 'Hall', description: '' },
        { label: 'Attic', description: '' },
      ],
    },
  ],
};
