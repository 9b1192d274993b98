import { Image } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import type { CardProps } from './card';
import { deriveBlob, derivePictures, isPicture } from './derive-raw-result';
import { loadRaw } from './load-raw';

type Shown =
  | { state: 'idle' | 'loading' }
  | { state: 'picture'; address: string }
  | { state: 'failed'; why: string };

/** What came with an output and is no text. Pictures are loaded when somebody asks. */
export function Attachments({ call, run }: CardProps) {
  if (call.attachments.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1" aria-label="Attachments">
      {call.attachments.map((attachment, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attachment is known by its place only.
        <li key={at}>
          {isPicture(attachment) ? (
            <Picture call={call} run={run} words={attachment} at={pictureAt(call.attachments, at)} />
          ) : (
            <span className="text-muted text-xs">{attachment}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The raw line has pictures of all kinds; this is the place among them. */
function pictureAt(attachments: readonly string[], at: number): number {
  return attachments.slice(0, at).filter((attachment) => attachment.startsWith('image')).length;
}

function Picture({ call, run, words, at }: CardProps & { words: string; at: number }) {
  const [shown, setShown] = useState<Shown>({ state: 'idle' });
  const address = shown.state === 'picture' ? shown.address : null;
  useEffect(() => {
    if (address === null) return;
    return () => URL.revokeObjectURL(address);
  }, [address]);
  const ended = useRef<AbortController>(null);
  useEffect(() => () => ended.current?.abort(), []);
  const load = async () => {
    const end = new AbortController();
    ended.current = end;
    setShown({ state: 'loading' });
    const ref = call.raw.at(-1);
    try {
      if (!ref) throw new Error('The raw log does not have it.');
      const raw = await loadRaw(run, ref, () => {}, end.signal);
      // Nobody would give back the memory of a picture that nobody sees.
      if (end.signal.aborted) return;
      const picture = derivePictures(raw, call.item)[at];
      const blob = picture ? deriveBlob(picture) : 'The picture was not found in the agent’s words.';
      if (typeof blob === 'string') setShown({ state: 'failed', why: blob });
      else setShown({ state: 'picture', address: URL.createObjectURL(blob) });
    } catch (error) {
      if (!end.signal.aborted) setShown({ state: 'failed', why: messageOf(error) });
    }
  };
  if (address !== null) {
    const broken = () =>
      setShown({ state: 'failed', why: 'The picture is broken: the browser cannot show it.' });
    return (
      <img
        src={address}
        alt={`Attachment: ${words}`}
        onError={broken}
        className="max-h-96 max-w-full rounded border border-line"
      />
    );
  }
  return (
    <span className="flex flex-wrap items-center gap-2 text-xs">
      <button
        type="button"
        className="button"
        disabled={shown.state === 'loading'}
        onClick={() => void load()}
      >
        <Image aria-hidden className="size-3.5" /> {shown.state === 'loading' ? 'Loading…' : 'Show picture'}
      </button>
      <span className="text-muted">{words}</span>
      {shown.state === 'failed' && <span className="text-bad">{shown.why}</span>}
    </span>
  );
}
