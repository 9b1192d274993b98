import { cleanup, fireEvent, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { KeyName } from './keys';
import { useKey } from './use-key';

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
});

const done: string[] = [];
function Listener({ name, says, result }: { name: KeyName; says: string; result?: boolean }) {
  useKey(name, () => {
    done.push(says);
    return result;
  });
  return null;
}

function pressed(key: string, init: KeyboardEventInit = {}, target: Element = document.body): string[] {
  done.length = 0;
  fireEvent.keyDown(target, { key, bubbles: true, ...init });
  return [...done];
}

function add(html: Partial<HTMLElement> & { tag: string }): HTMLElement {
  const { tag, ...rest } = html;
  const element = Object.assign(document.createElement(tag), rest);
  document.body.append(element);
  return element;
}

test('who listens last is asked first, and may leave it to who listened before', () => {
  const { rerender } = render(
    <>
      <Listener key="a" name="find" says="page" />
      <Listener key="b" name="find" says="bar" />
      <Listener key="c" name="answer" says="list" />
      <Listener key="d" name="answer" says="nothing here" result={false} />
    </>,
  );
  expect(pressed('f', { ctrlKey: true })).toEqual(['bar']);
  expect(pressed('w')).toEqual(['nothing here', 'list']);
  rerender(<Listener key="a" name="find" says="page" />);
  expect(pressed('/')).toEqual(['page']);
});

test('nothing happens behind a dialog, whatever is held down', () => {
  render(<Listener name="find" says="page" />);
  const dialog = add({ tag: 'dialog' });
  dialog.setAttribute('open', '');
  expect(pressed('f', { ctrlKey: true })).toEqual([]);
});

test('Home and End belong to the box in focus, and to a selection', () => {
  render(<Listener name="latest" says="latest" />);
  expect(pressed('End')).toEqual(['latest']);
  expect(pressed('End', { shiftKey: true })).toEqual([]);
  expect(pressed('G', { shiftKey: true })).toEqual(['latest']);
  expect(pressed('End', {}, add({ tag: 'section', tabIndex: 0 }))).toEqual([]);
  expect(pressed('End', {}, add({ tag: 'section', tabIndex: 0, id: 'activity' }))).toEqual(['latest']);
});
