import { Bot, CircleHelp, ListTodo, SlidersHorizontal } from 'lucide-react';
import { Markdown } from '../../markdown/Markdown';
import type { PlanEntry } from '../../wire';
import type { Card, CardProps } from '../card';
import { derivePlan, planSummary } from '../derive-plan';
import { deriveQuestions } from '../derive-questions';
import { Output } from '../Output';
import { Facts, Labelled, Words } from '../parts';
import { textAt } from '../read-input';
import { Preparing } from './edit';
import { GenericBody } from './generic';

function AgentBody({ call, run }: CardProps) {
  const prompt = textAt(call.input, 'prompt', 'message');
  const isText = call.state === 'completed' && call.output && call.outputBytes === null;
  return (
    <>
      <Facts
        facts={[
          ['agent', textAt(call.input, 'subagent_type', 'agent')],
          ['model', textAt(call.input, 'model')],
        ]}
      />
      {prompt && (
        <Labelled label="Told">
          <div className="max-h-60 overflow-y-auto">
            <Words text={prompt} most={20_000} />
          </div>
        </Labelled>
      )}
      <Preparing call={call} />
      {isText && call.output ? (
        <Labelled label="Answered">
          <div className="max-h-[70vh] overflow-y-auto rounded border border-line bg-bg px-3 py-2">
            <Markdown text={call.output} />
          </div>
        </Labelled>
      ) : (
        <Output call={call} run={run} />
      )}
    </>
  );
}

export const agent: Card = {
  icon: Bot,
  subject: (call) => textAt(call.input, 'description') ?? call.subject ?? textAt(call.input, 'prompt'),
  isProse: true,
  Body: AgentBody,
};

const MARKS: Record<PlanEntry['status'], { mark: string; word: string; tone: string }> = {
  pending: { mark: '☐', word: 'to do', tone: '' },
  in_progress: { mark: '▸', word: 'now', tone: 'font-medium text-accent' },
  completed: { mark: '☑', word: 'done', tone: 'text-muted' },
  cancelled: { mark: '☒', word: 'cancelled', tone: 'text-faint line-through' },
};

/** A list of things to do, and how far each is. */
export function Checklist({ entries }: { entries: readonly PlanEntry[] }) {
  return (
    <ul className="flex flex-col gap-0.5 text-xs">
      {entries.map(({ text, status }, at) => {
        const { mark, word, tone } = MARKS[status] ?? MARKS.pending;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are known by their place only.
          <li key={at} className={`flex gap-2 ${tone}`}>
            <span aria-hidden className="w-4 shrink-0 text-center">
              {mark}
            </span>
            <span className="sr-only">{word}:</span>
            <span className="wrap-anywhere min-w-0">{text.slice(0, 1_000)}</span>
          </li>
        );
      })}
    </ul>
  );
}

function PlanBody({ call, run }: CardProps) {
  const entries = derivePlan(call.input);
  if (entries.length === 0) return <GenericBody call={call} run={run} />;
  return (
    <>
      <Checklist entries={entries} />
      {call.state === 'failed' && <Output call={call} run={run} label="Error" />}
    </>
  );
}

export const plan: Card = {
  icon: ListTodo,
  subject: (call) => {
    const entries = derivePlan(call.input);
    return entries.length > 0 ? planSummary(entries) : call.subject;
  },
  isProse: true,
  isOpen: (call) => derivePlan(call.input).length > 0,
  Body: PlanBody,
};

function QuestionBody({ call, run }: CardProps) {
  const questions = deriveQuestions(call.input);
  if (questions.length === 0) return <GenericBody call={call} run={run} />;
  return (
    <>
      {questions.map(({ text, header, options, is_multiple }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: questions are known by their place only.
        <div key={at}>
          {header && <span className="chip">{header.slice(0, 80)}</span>}
          <Words text={text} />
          <ul className="list-disc pl-5 text-xs">
            {options?.map(({ label, description }) => (
              <li key={label} className="wrap-anywhere">
                {label.slice(0, 500)}
                {description && <span className="text-muted">: {description.slice(0, 1_000)}</span>}
              </li>
            ))}
          </ul>
          {is_multiple && <p className="text-2xs text-faint">Several can be chosen.</p>}
        </div>
      ))}
      {call.output && (
        <Labelled label="Answer">
          <Words text={call.output} />
        </Labelled>
      )}
    </>
  );
}

export const question: Card = {
  icon: CircleHelp,
  title: () => 'Question',
  subject: (call) => deriveQuestions(call.input)[0]?.text ?? call.subject,
  isProse: true,
  isSubjectInBody: (call) => deriveQuestions(call.input).length > 0,
  isOpen: () => true,
  Body: QuestionBody,
};

function ModeBody({ call, run }: CardProps) {
  const text = textAt(call.input, 'plan');
  if (text === null) return <GenericBody call={call} run={run} />;
  return (
    <>
      <div className="max-h-[70vh] overflow-y-auto rounded border border-line bg-bg px-3 py-2">
        <Markdown text={text} />
      </div>
      {call.output && <Words text={call.output} />}
    </>
  );
}

export const mode: Card = {
  icon: SlidersHorizontal,
  title: (call) => (textAt(call.input, 'plan') === null ? call.name : 'Plan'),
  isOpen: (call) => textAt(call.input, 'plan') !== null,
  Body: ModeBody,
};
