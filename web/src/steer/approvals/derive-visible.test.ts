import { expect, test } from 'vitest';
import { isVisible, visibleJson, visibleText } from './derive-visible';

test('what turns or hides text is told by its number', () => {
  expect(visibleText('rm \u202egnp.a\u202c')).toBe('rm ⟨U+202E⟩gnp.a⟨U+202C⟩');
  expect(visibleText('ls\u200b\u00a0-l\r\u{e0041}')).toBe('ls⟨U+200B⟩⟨U+00A0⟩-l⟨U+000D⟩⟨U+E0041⟩');
  expect(visibleText('\u001b[2K')).toBe('⟨U+001B⟩[2K');
});

test('ordinary text stays as it is', () => {
  for (const text of ['make test\n\tagain', 'one\r\ntwo', 'Grüße, 世界', 'שלום', '⚠️ 👩🏽‍💻 ❤️']) {
    expect(visibleText(text)).toBe(text);
    expect(isVisible(text)).toBe(true);
  }
  expect(isVisible('a\u2066b')).toBe(false);
});

test('JSON shows what is hidden and means the same', () => {
  const value = { 'a\u200b': ['\u202e', '\u{e0041}', 'plain'] };
  const text = visibleJson(value);
  expect(text).toContain('\\u202e');
  expect(isVisible(text)).toBe(true);
  expect(JSON.parse(text)).toEqual(value);
});
