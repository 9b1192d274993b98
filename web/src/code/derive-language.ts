import { isLanguage, type Language } from './languages';

/** Other names, as people and files write them. */
const ALIASES: Record<string, Language> = {
  bashrc: 'bash',
  cc: 'cpp',
  cfg: 'ini',
  cjs: 'javascript',
  conf: 'ini',
  console: 'bash',
  cs: 'csharp',
  cts: 'typescript',
  cxx: 'cpp',
  dockerfile: 'docker',
  gemfile: 'ruby',
  gnumakefile: 'make',
  golang: 'go',
  h: 'c',
  hpp: 'cpp',
  htm: 'html',
  js: 'javascript',
  json5: 'jsonc',
  kt: 'kotlin',
  kts: 'kotlin',
  makefile: 'make',
  md: 'markdown',
  mdx: 'markdown',
  mjs: 'javascript',
  mk: 'make',
  mts: 'typescript',
  patch: 'diff',
  properties: 'ini',
  py: 'python',
  py3: 'python',
  pyi: 'python',
  rake: 'ruby',
  rb: 'ruby',
  rs: 'rust',
  sass: 'scss',
  sh: 'bash',
  shell: 'bash',
  shellscript: 'bash',
  svg: 'xml',
  ts: 'typescript',
  vue: 'html',
  yml: 'yaml',
  zsh: 'bash',
};

function known(name: string): Language | null {
  const lower = name.toLowerCase();
  if (isLanguage(lower)) return lower;
  return Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? null) : null;
}

/** The language of a block that says so itself: the first word after the fence. */
export function languageOfName(name: string | null | undefined): Language | null {
  const word = /^[\w#+.-]{1,40}/.exec((name ?? '').trim())?.[0];
  return word ? known(word) : null;
}

/** The language of a file, by its name. */
export function languageOfPath(path: string | null | undefined): Language | null {
  if (!path) return null;
  const name = path.slice(-300).split(/[\\/]/).at(-1) ?? '';
  const parts = name.split('.');
  const ending = parts.at(-1) ?? '';
  if (parts.length === 1) return known(name);
  // `.bashrc` and `Dockerfile.dev` have their name before or after the dot.
  return known(ending) ?? known(parts[0] ?? '');
}
