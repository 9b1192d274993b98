import { expect, test } from 'vitest';
import { Pin } from './pin';

const ready = (value: string) => ({ value, isReady: true });
const unknown = { value: '', isReady: false };

test('a proposal follows the server until somebody types, and then no more', () => {
  const pin = new Pin<string>();
  expect(pin.look('/a', ready('one'), false)).toEqual(ready('one'));
  expect(pin.look('/a', ready('two'), false)).toEqual(ready('two'));
  expect(pin.look('/a', ready('two'), true)).toEqual(ready('two'));
  expect(pin.look('/a', ready('three'), true)).toEqual(ready('two'));
  expect(pin.look('/a', unknown, true)).toEqual(ready('two'));
  expect(pin.look('/a', ready('three'), false)).toEqual(ready('three'));
});

test('what was not known when somebody began to type stays as it comes first', () => {
  const pin = new Pin<string>();
  expect(pin.look('/a', unknown, true)).toEqual(unknown);
  expect(pin.look('/a', ready('one'), true)).toEqual(ready('one'));
  expect(pin.look('/a', ready('two'), true)).toEqual(ready('one'));
});

test('another workspace has proposals of its own', () => {
  const pin = new Pin<string>();
  pin.look('/a', ready('one'), true);
  expect(pin.look('/b', unknown, true)).toEqual(unknown);
  expect(pin.look('/b', ready('two'), true)).toEqual(ready('two'));
  expect(pin.look('/b', ready('three'), true)).toEqual(ready('two'));
});
