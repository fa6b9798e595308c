import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { isMutated, root } from './covered.ts';
import { mutantsOf } from './mutants-of.ts';

const changesOf = (code: string) => mutantsOf('a.ts', code).map(({ operator, after }) => [operator, after]);

describe('the mutants of a source', () => {
  it.each([
    ['if (a) b();', ['negated', 'if (!(a)) b();'], ['dropped', 'if (a) {}']],
    ['const a = b < c ? 1 : 2;', ['negated', 'const a = !(b < c) ? 1 : 2;'], ['shifted', 'const a = b <= c ? 1 : 2;']],
    ['const a = b && c;', ['logic', 'const a = b || c;']],
    ['await a();', ['dropped', '{}'], ['not awaited', 'void a();']],
    ['const a = await b();', ['not awaited', 'const a = b();']],
    [
      'const a = { pauseInSeconds: 2 * 5 };',
      ['limit', 'const a = { pauseInSeconds: 100 };'],
      ['limit', 'const a = { pauseInSeconds: 1 };'],
    ],
    ['const a = v.maxLength(40);', ['limit', 'const a = v.maxLength(400);'], ['limit', 'const a = v.maxLength(4);']],
    ['for (;;) { continue; }', ['dropped', 'for (;;) { {} }']],
  ])('of %s are each with one change', (code, ...changes) => {
    expect(changesOf(code)).toEqual(changes);
  });

  it('change no log, text, type or plain number', () => {
    expect(changesOf("log('INFO', a ? 'b' : 'c'); type A = B extends C ? 1 : 2; const d = `${e}`; const f = 7;")).toEqual([]);
  });

  it('are of a defence if a comment marks their line, or the line before', () => {
    const code = 'if (a) b(); // defence\n// defence\nif (c) {\n  d();\n}';
    expect(mutantsOf('a.ts', code).map(({ line, isDefence }) => [line, isDefence])).toEqual([
      [1, true],
      [1, true],
      [3, true],
      [4, false],
    ]);
  });

  it('are there for each line that a comment marks as a defence', () => {
    const files = globSync('{shared,gateway,local,packages}/**/*.ts', { cwd: root, exclude: (name) => name === 'node_modules' });
    const marked = files.filter(isMutated).flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const count = text.split('// defence\n').length - 1;
      const lines = new Set(mutantsOf(file, text).flatMap(({ isDefence, line }) => (isDefence ? [line] : [])));
      return count > 0 ? [{ file, count, lines: lines.size }] : [];
    });
    expect(marked.filter(({ count, lines }) => count !== lines)).toEqual([]);
    expect(marked.length).toBeGreaterThan(30);
  });
});
