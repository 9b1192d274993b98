import type { ReactElement } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeView } from '../code/CodeView';
import { Link } from './Link';

type HastNode = { type: string; value?: string; children?: HastNode[]; properties?: Record<string, unknown> };

function textOf(node: HastNode | undefined): string {
  if (!node) return '';
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(textOf).join('');
}

function languageOf(node: HastNode | undefined): string | null {
  const names = node?.properties?.className;
  const name = Array.isArray(names) ? names.find((each) => String(each).startsWith('language-')) : null;
  return name ? String(name).slice('language-'.length) : null;
}

/** No element that loads anything, and none that is larger than the page's own. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Link href={src}>Image: {alt || 'without a description'}</Link>,
  // One level for all: where a text begins to count is its own affair, and the page must not skip a level.
  h1: ({ children }) => <h3 className="text-base font-semibold">{children}</h3>,
  h2: ({ children }) => <h3 className="text-base font-semibold">{children}</h3>,
  h3: ({ children }) => <h3 className="text-sm font-semibold">{children}</h3>,
  h4: ({ children }) => <h3 className="text-sm font-semibold">{children}</h3>,
  h5: ({ children }) => <h3 className="text-sm font-semibold">{children}</h3>,
  h6: ({ children }) => <h3 className="text-sm font-semibold">{children}</h3>,
  table: ({ children }) => (
    <figure className="overflow-x-auto" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </figure>
  ),
  input: ({ checked }) => (
    <span>
      <span aria-hidden>{checked ? '☑' : '☐'}</span>
      <span className="sr-only">{checked ? 'done:' : 'to do:'}</span>
    </span>
  ),
  pre: ({ node }) => {
    const code = node?.children[0] as HastNode | undefined;
    return <CodeView text={textOf(code)} language={languageOf(code)} firstLine={null} />;
  },
};

const PLUGINS = [remarkGfm];

/** What was parsed before, so that a row that comes back into view costs no parser. */
const kept = new Map<string, ReactElement>();
const MOST_KEPT_CHARS = 400_000;
let keptChars = 0;

/** One block of Markdown as elements. Raw HTML in it stays text. */
export function renderBlock(text: string, isFinal: boolean): ReactElement {
  const found = kept.get(text);
  if (found) return found;
  // It has no state, so it can be called like a function; links are checked where they are made.
  const made = ReactMarkdown({
    children: text,
    remarkPlugins: PLUGINS,
    components: COMPONENTS,
    urlTransform: (url) => url,
  });
  if (!isFinal) return made;
  kept.set(text, made);
  keptChars += text.length;
  for (const oldest of kept.keys()) {
    if (keptChars <= MOST_KEPT_CHARS) break;
    kept.delete(oldest);
    keptChars -= oldest.length;
  }
  return made;
}
