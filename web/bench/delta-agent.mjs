// An agent that writes pieces of text by a clock: `delta-agent.mjs RATE SECONDS GATE`. It begins when GATE is there.
import { existsSync, writeSync } from 'node:fs';

const [rate, seconds] = process.argv.slice(2, 4).map(Number);
const gate = process.argv[4];
const DELTAS_OF_A_MESSAGE = 500;
const session_id = '00000000-0000-4000-8000-0000000000b0';
const tail = { parent_tool_use_id: null, session_id };

let waiting = '';
const write = (line) => {
  waiting += `${JSON.stringify(line)}\n`;
};
const flush = () => {
  for (let rest = Buffer.from(waiting); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
  waiting = '';
};
const streamed = (event) => write({ type: 'stream_event', event, ...tail });
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

write({
  type: 'system',
  subtype: 'init',
  cwd: process.cwd(),
  tools: [],
  mcp_servers: [],
  model: 'bench',
  permissionMode: 'default',
  session_id,
});
flush();
while (!existsSync(gate)) pause(20);

let written = 0;
let text = '';
let id = '';
const end = () => {
  if (text === '') return;
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [{ type: 'text', text }],
    usage: {},
  };
  write({ type: 'assistant', message, ...tail });
  streamed({ type: 'content_block_stop', index: 0 });
  streamed({ type: 'message_stop' });
  text = '';
};
const began = Date.now();
while (written < rate * seconds) {
  const due = Math.min(rate * seconds, Math.floor(((Date.now() - began) / 1_000) * rate));
  for (; written < due; written += 1) {
    if (written % DELTAS_OF_A_MESSAGE === 0) {
      end();
      id = `msg_${written}`;
      streamed({
        type: 'message_start',
        message: { id, type: 'message', role: 'assistant', model: 'bench', content: [], usage: {} },
      });
      streamed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    }
    const piece = written % 40 === 39 ? `word-${written}.\n\n` : `word-${written} `;
    text += piece;
    streamed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
  }
  flush();
  pause(2);
}
end();
write({
  type: 'result',
  subtype: 'success',
  is_error: false,
  num_turns: 1,
  result: 'LOOP_COMPLETE',
  session_id,
  usage: {},
});
flush();
