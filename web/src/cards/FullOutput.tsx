import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import { MOST_RAW_BYTES } from '../api/raw';
import { formatBytes } from '../layout/format';
import { callKey } from '../run/tool-call';
import type { CardProps } from './card';
import { fullOutput } from './derive-raw-result';
import { loadRaw } from './load-raw';
import { OutputText } from './OutputText';
import { Nothing } from './parts';
import { RawPages } from './RawPages';

type Loaded =
  | { state: 'idle' }
  | { state: 'loading'; share: number }
  | { state: 'text'; text: string }
  | { state: 'pages'; why: string }
  | { state: 'failed'; why: string };

/** All of an output that the record has only the ends of: loaded from the raw log when somebody asks. */
export function FullOutput({ call, run, bytes }: CardProps & { bytes: number }) {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'idle' });
  const ended = useRef<AbortController>(null);
  useEffect(() => () => ended.current?.abort(), []);
  const ref = call.finishedSeq === null ? undefined : call.raw.at(-1);
  if (!ref) return <Nothing>The whole output ({formatBytes(bytes)}) is not in the raw log.</Nothing>;
  const load = async () => {
    if (ref.length > MOST_RAW_BYTES) {
      setLoaded({
        state: 'pages',
        why: 'It is too long to be shown at once: here are the agent’s own words.',
      });
      return;
    }
    const end = new AbortController();
    ended.current = end;
    setLoaded({ state: 'loading', share: 0 });
    try {
      const raw = await loadRaw(run, ref, (share) => setLoaded({ state: 'loading', share }), end.signal);
      const text = fullOutput(raw, call.item);
      const why = 'The output was not found in the agent’s words: here they are.';
      setLoaded(text === null ? { state: 'pages', why } : { state: 'text', text });
    } catch (error) {
      if (!end.signal.aborted) setLoaded({ state: 'failed', why: messageOf(error) });
    }
  };
  if (loaded.state === 'text') {
    return (
      <OutputText
        name={callKey(call)}
        text={loaded.text}
        head={Number.MAX_SAFE_INTEGER}
        tail={0}
        label="Full output"
      />
    );
  }
  if (loaded.state === 'pages') return <RawPages run={run} raw={ref} why={loaded.why} />;
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs">
      <button
        type="button"
        className="button"
        disabled={loaded.state === 'loading'}
        onClick={() => void load()}
      >
        {loaded.state === 'loading'
          ? `Loading, ${Math.round(loaded.share * 100)} %`
          : `Show full (${formatBytes(bytes)})`}
      </button>
      {loaded.state === 'failed' && <span className="text-bad">{loaded.why} Try again.</span>}
    </div>
  );
}
