import { Image } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import type { CardProps } from './card';
import { deriveBlob, derivePictures, isPicture } from './derive-raw-result';
import { loadRaw } from './load-raw';

type Shown =
  | { state: 'idle' | 'loading' }
  | { state: 'picture'; address: string }
  | { state: 'failed'; why: string };

/** Pictures whose raw line is no longer than this show by themselves: about 1 MB as base64. */
const SMALL_BYTES = 1_400_000;
/** The height of the box in which they do, so that nothing moves when they come. */
const BOX_PIXELS = 192;

/** What came with an output and is no text. Small pictures show by themselves, others when somebody asks. */
export function Attachments({ call, run }: CardProps) {
  if (call.attachments.length === 0) return null;
  // Each picture reads the whole line.
  const bytes = (call.raw.at(-1)?.length ?? Number.POSITIVE_INFINITY) * call.attachments.length;
  return (
    <ul className="flex flex-col gap-1" aria-label="Attachments">
      {call.attachments.map((attachment, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attachment is known by its place only.
        <li key={at}>
          {isPicture(attachment) ? (
            <Picture
              call={call}
              run={run}
              words={attachment}
              at={pictureAt(call.attachments, at)}
              isSmall={bytes <= SMALL_BYTES}
            />
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

interface PictureProps extends CardProps {
  words: string;
  at: number;
  isSmall: boolean;
}

function Picture({ call, run, words, at, isSmall }: PictureProps) {
  const [shown, setShown] = useState<Shown>({ state: isSmall ? 'loading' : 'idle' });
  const address = shown.state === 'picture' ? shown.address : null;
  useEffect(() => {
    if (address === null) return;
    return () => URL.revokeObjectURL(address);
  }, [address]);
  const { item } = call;
  const ref = call.raw.at(-1);
  const latest = useRef(ref);
  latest.current = ref;
  const ended = useRef<AbortController>(null);
  const load = useCallback(async () => {
    ended.current?.abort();
    const end = new AbortController();
    ended.current = end;
    setShown({ state: 'loading' });
    try {
      if (!latest.current) throw new Error('The raw log does not have it.');
      const raw = await loadRaw(run, latest.current, () => {}, end.signal);
      // Nobody would give back the memory of a picture that nobody sees.
      if (end.signal.aborted) return;
      const picture = derivePictures(raw, item)[at];
      const blob = picture ? deriveBlob(picture) : 'The picture was not found in the agent’s words.';
      if (typeof blob === 'string') setShown({ state: 'failed', why: blob });
      else setShown({ state: 'picture', address: URL.createObjectURL(blob) });
    } catch (error) {
      if (!end.signal.aborted) setShown({ state: 'failed', why: messageOf(error) });
    }
  }, [run, item, at]);
  useEffect(() => {
    if (isSmall) void load();
    return () => ended.current?.abort();
  }, [isSmall, load]);
  if (isSmall && shown.state === 'loading') {
    return (
      <p className="text-muted text-xs" style={{ height: BOX_PIXELS }}>
        Loading {words}…
      </p>
    );
  }
  if (address !== null) {
    const broken = () =>
      setShown({ state: 'failed', why: 'The picture is broken: the browser cannot show it.' });
    return <Shot address={address} words={words} isBoxed={isSmall} onBroken={broken} />;
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

interface ShotProps {
  address: string;
  words: string;
  /** Whether it is shown in a box of one height at first. */
  isBoxed: boolean;
  onBroken: () => void;
}

function Shot({ address, words, isBoxed, onBroken }: ShotProps) {
  const [isCut, setCut] = useState(false);
  const [isLarge, setLarge] = useState(!isBoxed);
  const image = (
    <img
      src={address}
      alt={`Attachment: ${words}`}
      onError={onBroken}
      onLoad={({ currentTarget }) => setCut(currentTarget.naturalHeight > BOX_PIXELS)}
      className={`max-w-full rounded border border-line ${isLarge ? 'max-h-[80dvh]' : 'max-h-full'}`}
    />
  );
  if (!isBoxed) return image;
  return (
    <div className="flex flex-wrap items-start gap-2" style={isLarge ? undefined : { height: BOX_PIXELS }}>
      {image}
      {isCut && (
        <button type="button" className="text-accent text-xs underline" onClick={() => setLarge(!isLarge)}>
          {isLarge ? 'Show smaller' : 'Show larger'}
        </button>
      )}
    </div>
  );
}
