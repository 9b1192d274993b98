import { permissionTitle } from '../../steer/approvals/derive-answer';
import { visibleText } from '../../steer/approvals/derive-visible';
import type { AskRowBody } from '../row';
import { askWords } from './command-words';
import { Markdown } from './lazy-parts';

/** What the agent asked, and what became of it. */
export function AskBody({ body }: { body: AskRowBody }) {
  const { ask, state, hasCard } = body;
  const isPending = state === 'pending';
  if (hasCard) {
    return (
      <div className={isPending ? 'text-warn' : 'text-muted'}>
        <p>{askWords(body)}</p>
        <Granted lines={body.granted} />
      </div>
    );
  }
  return (
    <div
      className={`rounded-lg border px-3 py-1.5 ${isPending ? 'border-warn bg-warn-soft' : 'border-line bg-raised'}`}
    >
      <p className={`text-2xs ${isPending ? 'text-warn' : 'text-muted'}`}>{askWords(body)}</p>
      <Granted lines={body.granted} />
      {ask.type === 'permission' && (
        <>
          <p>
            {permissionTitle(ask.data)}
            {ask.data.kind === 'execute' && ask.data.subject && (
              <code className="ml-2 break-words font-mono text-xs">{visibleText(ask.data.subject)}</code>
            )}
          </p>
          {ask.data.description && <p className="text-muted">{ask.data.description}</p>}
        </>
      )}
      {ask.type === 'question' &&
        ask.data.questions.map((question) => (
          <div key={question.text} className="mb-1">
            <p className="font-medium">{question.text}</p>
            <ul className="list-disc pl-5 text-muted">
              {question.options?.map((option) => (
                <li key={option.label}>
                  {option.label}
                  {option.description ? `: ${option.description}` : ''}
                </li>
              ))}
            </ul>
          </div>
        ))}
      {ask.type === 'plan' && <Markdown text={ask.data.plan} isStreaming={false} />}
    </div>
  );
}

/** The lasting permissions that were given with the answer. */
function Granted({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul aria-label="Granted" className="list-disc pl-5 text-xs">
      {lines.map((line) => (
        <li key={line} className="break-words">
          {visibleText(line)}
        </li>
      ))}
    </ul>
  );
}
