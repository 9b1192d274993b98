import { expect, test } from 'vitest';
import cases from '../../../../crates/run_view/tests/request_texts.json';
import { shownText } from './derive-shown';

test.each(cases)('$name: shown as in a terminal', ({ command, page, lines }) => {
  expect(shownText(command)).toMatchObject({ text: page, lines });
});

test('a long text says how it ends', () => {
  const long = `git status${'\n'.repeat(40)}touch ../PWNED`;
  expect(shownText(long)).toEqual({
    text: 'git status\n… 39 empty lines\ntouch ../PWNED',
    lines: 41,
    end: 'touch ../PWNED',
  });
  expect(shownText('ls\npwd').end).toBeNull();
  expect(shownText(`a${'\nb'.repeat(20)}${'x'.repeat(500)}`).end).toBe(`…${'x'.repeat(200)}`);
});
