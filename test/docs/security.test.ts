import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = new URL('../../docs/security.md', import.meta.url);
const text = readFileSync(page, 'utf8');

/** The links of a line to tests: the title of the test, and its file. */
const testsIn = (line: string) =>
  [...line.matchAll(/\[((?:[^\][]|\[[^\]]*\])+)\]\((\.\.\/test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title,
    file,
  }));

/** The lines of the threat model: what is attempted, and whether the service prevents, detects or leaves it. */
const attempts = text.split('\n').flatMap((line) => {
  const [, attempt = ''] = /^- \*\*(.*?)\*\* _(?:prevents|detects|leaves)_: /.exec(line) ?? [];
  return attempt === '' ? [] : [{ line, attempt }];
});
const named = [
  ...new Map(attempts.flatMap(({ line }) => testsIn(line)).map((test) => [`${test.title} ${test.file}`, test])).values(),
];

describe('the threat model', () => {
  it('has a line for each kind of attacker', () => {
    const attackers = text.split('\n').filter((line) => line.startsWith('## '));
    for (const word of ['stolen token', 'provider', 'owner', 'editor', 'administrator', 'viewer', 'CVM', 'gateway', 'operator']) {
      expect(attackers.join()).toContain(word);
    }
    expect(attempts.length).toBeGreaterThan(100);
  });

  it.each(attempts)('names a test: $attempt', ({ line }) => {
    expect(testsIn(line)).not.toEqual([]);
  });

  it.each(named)('names a test that exists: $title', ({ title, file }) => {
    const place = new URL(file, page);
    expect(existsSync(place)).toBe(true);
    const source = readFileSync(place, 'utf8');
    const isTitle = ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote},`));
    expect(isTitle).toBe(true);
  });
});
