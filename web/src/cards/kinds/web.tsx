import { Globe, Search } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from '../../markdown/Link';
import { Markdown } from '../../markdown/Markdown';
import type { Card, CardProps } from '../card';
import { derivePages } from '../derive-found';
import { Output } from '../Output';
import { Labelled, Words } from '../parts';
import { listAt, textAt } from '../read-input';
import { Preparing } from './edit';

function FetchBody({ call, run }: CardProps) {
  const url = textAt(call.input, 'url');
  const prompt = textAt(call.input, 'prompt');
  const isText = call.state === 'completed' && call.output && call.outputBytes === null;
  return (
    <>
      {url && (
        <p className="wrap-anywhere text-accent text-xs underline">
          <Link href={url}>{url.slice(0, 2_000)}</Link>
        </p>
      )}
      {prompt && (
        <Labelled label="Asked">
          <Words text={prompt} />
        </Labelled>
      )}
      <Preparing call={call} />
      {isText && call.output ? (
        <div className="max-h-[70vh] overflow-y-auto rounded border border-line bg-bg px-3 py-2">
          <Markdown text={call.output} />
        </div>
      ) : (
        <Output call={call} run={run} />
      )}
    </>
  );
}

export const fetchPage: Card = {
  icon: Globe,
  isSubjectInBody: (call) => textAt(call.input, 'url') !== null,
  Body: FetchBody,
};

function WebSearchBody({ call, run }: CardProps) {
  const { pages, rest } = useMemo(() => derivePages(call.output ?? ''), [call.output]);
  const only = listAt(call.input, 'allowed_domains').filter((domain) => typeof domain === 'string');
  return (
    <>
      {only.length > 0 && <p className="text-muted text-xs">Only in {only.slice(0, 20).join(', ')}</p>}
      <Preparing call={call} />
      {pages.length > 0 && (
        <ul className="flex flex-col gap-1 text-xs">
          {pages.map(({ title, url }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pages may be named twice.
            <li key={at} className="min-w-0">
              <span className="text-accent underline">
                <Link href={url}>{title.slice(0, 300)}</Link>
              </span>
              <div className="truncate text-2xs text-faint" title={url}>
                {url}
              </div>
            </li>
          ))}
        </ul>
      )}
      {(pages.length === 0 || rest !== '') && (
        <Output call={pages.length > 0 ? { ...call, output: rest } : call} run={run} label="Found" />
      )}
    </>
  );
}

export const webSearch: Card = {
  icon: Search,
  subject: (call) => textAt(call.input, 'query') ?? call.subject,
  isProse: true,
  Body: WebSearchBody,
};
