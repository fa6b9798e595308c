import { readFileSync } from 'node:fs';

export const page = new URL('../../docs/security.md', import.meta.url);
export const text = readFileSync(page, 'utf8');

/** The links of a line to tests: the title of the test, and its file. */
export const testsIn = (line: string) =>
  [...line.matchAll(/\[((?:[^\][]|\[[^\]]*\])+)\]\((\.\.\/test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title,
    file,
  }));

/** The lines of the threat model: what is attempted, and whether the service prevents, detects or leaves it. */
export const attempts = text.split('\n').flatMap((line) => {
  const [, attempt = '', word] = /^- \*\*(.*?)\*\* _(prevents|detects|leaves)_: /.exec(line) ?? [];
  return word === undefined ? [] : [{ line, attempt, word }];
});
