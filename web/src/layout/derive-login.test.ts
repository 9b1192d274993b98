import { expect, test } from 'vitest';
import { loginReason, openCommand } from './derive-login';

test('a link that does not work says why', () => {
  expect(loginReason('')).toBeNull();
  expect(loginReason('?state=waiting')).toBeNull();
  expect(loginReason('?login=used')).toContain('works once');
  expect(loginReason('?login=wait')).toContain('Wait');
  expect(loginReason('?login=toString')).toBe('That login link does not work.');
});

test('the command for a new link names the port where it is another than usual', () => {
  expect(openCommand('7878')).toBe('ralph serve --open');
  expect(openCommand('')).toBe('ralph serve --open');
  expect(openCommand('8080')).toBe('ralph serve --open --port 8080');
});
