import { beforeEach, expect, test } from 'vitest';
import { keepDraft, loadDraft } from './draft';

beforeEach(() => sessionStorage.clear());

test('what was typed is there when the dialog is opened again', () => {
  keepDraft({ prompt: 'a long story', kind: 'session', workspace: '/a' });
  expect(loadDraft(undefined)).toEqual({ prompt: 'a long story', kind: 'session', workspace: '/a' });
});

test('the workspace that is looked at counts more than the one that was typed', () => {
  keepDraft({ prompt: 'x', workspace: '/a' });
  expect(loadDraft('/b')).toEqual({ prompt: 'x' });
});

test('that everything is allowed is not kept', () => {
  keepDraft({ prompt: 'x', permission: 'bypass' });
  expect(loadDraft(undefined)).toEqual({ prompt: 'x' });
});

test('nothing typed is nothing kept', () => {
  keepDraft({ prompt: 'x' });
  keepDraft({ prompt: '', model: '' });
  expect(sessionStorage.length).toBe(0);
});

test.each(['{', '3', '{"prompt":7,"kind":"odd","other":"x"}'])(
  'a draft that is broken (%s) is none',
  (text) => {
    sessionStorage.setItem('ralph.new-run', text);
    expect(loadDraft(undefined)).toEqual({});
  },
);
