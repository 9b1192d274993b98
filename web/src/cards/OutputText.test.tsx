import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { FoundHere } from '../code/found-line';
import { KeptState } from '../run/kept-state';
import { OutputText } from './OutputText';

afterEach(cleanup);

const text = Array.from({ length: 300 }, (_, at) => `line ${at + 1}.`).join('\n');
const show = (found: string) =>
  render(
    <KeptState value={new Map()}>
      <FoundHere value={found}>
        <OutputText name="t" text={text} head={12} tail={6} label="Output" />
      </FoundHere>
    </KeptState>,
  );

test('the middle of a long output is folded', () => {
  show('');
  expect(screen.getByRole('button', { name: 'Show 282 more lines' })).toBeDefined();
});

test('what was looked for in the middle is shown, and in view', () => {
  show('LINE 150.');
  expect(screen.queryByRole('button', { name: /more lines/ })).toBe(null);
  expect(screen.getByRole('figure', { name: 'Output' }).scrollTop).toBeGreaterThan(2_500);
});

test('what was looked for in the shown part unfolds nothing', () => {
  show('line 3.');
  expect(screen.getByRole('button', { name: 'Show 282 more lines' })).toBeDefined();
});
