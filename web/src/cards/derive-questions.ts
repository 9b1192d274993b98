import type { Question } from '../wire';
import { isTrueAt, listAt, textAt } from './read-input';

/** The questions in a call's arguments. */
export function deriveQuestions(input: unknown): Question[] {
  const list = listAt(input, 'questions');
  return (list.length > 0 ? list : [input]).slice(0, 20).flatMap((question) => {
    const text = textAt(question, 'question', 'text', 'title');
    if (text === null) return [];
    const header = textAt(question, 'header');
    const options = listAt(question, 'options')
      .slice(0, 50)
      .flatMap((option) => {
        const label = typeof option === 'string' ? option : textAt(option, 'label', 'value');
        const description = textAt(option, 'description');
        return label ? [{ label, ...(description !== null && { description }) }] : [];
      });
    const isMultiple = isTrueAt(question, 'multiSelect');
    return [{ text, ...(header !== null && { header }), options, is_multiple: isMultiple }];
  });
}
