import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalDigest } from 'computation-management-formats/digests';

const sources = join(import.meta.dirname, '../../../packages/cms');

/** A call in the sources of `cms`: a file, and the first and the last line. */
export interface Call {
  file: string;
  first: number;
  last: number;
}

/**
 * Returns the calls in the sources of `cms` that print a command to type next, but for those that name the command that was typed, which
 * goes on when it is typed again. A text that is returned, to be printed elsewhere, has the first line 0.
 */
export function callsThatNameNext(): Call[] {
  const files = ['commands', 'context'].flatMap((folder) =>
    readdirSync(join(sources, folder)).map((name) => `${folder}/${name}`),
  );
  return files.flatMap((file) => {
    const lines = readFileSync(join(sources, file), 'utf8').split('\n');
    return lines.flatMap((line, index) => {
      if (!line.includes('Next: ') || line.includes('Next: ${context.typed}')) return [];
      const first = line.includes('return `')
        ? 0
        : lines.slice(0, index + 1).findLastIndex((each) => each.includes('.note(')) + 1;
      return [{ file, first, last: index + 1 }];
    });
  });
}

/** Returns the lines of the sources of `cms` that are at work now, as `file:line`. */
export function linesAtWork(): string[] {
  const { stack = '' } = new Error('where');
  return Array.from(stack.matchAll(/packages\/cms\/(commands\/[\w-]+\.ts:\d+)/g), ([, line = '']) => line);
}

/** Returns the files below a folder, each with its content, that of JSON whatever the order of its fields. */
export function filesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  const contentOf = (name: string) => {
    const text = readFileSync(join(folder, name), 'latin1');
    return name.endsWith('.json') ? canonicalDigest(JSON.parse(text) as object) : text;
  };
  return new Map(files.map((name) => [name, contentOf(name)]));
}
