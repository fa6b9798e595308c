import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { isMap, isNode, isPair, LineCounter, parseDocument, type Document } from 'yaml';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesBeside } from '../output/files-beside.ts';
import { shellWord } from '../output/shell-word.ts';
import { isMissing, whyUnreadable } from '../output/why-unreadable.ts';
import { collaborationSchema, type Collaboration } from './collaboration.ts';

/** @throws CmsError that names each mistake with its line */
export async function readCollaboration(file: string): Promise<Collaboration> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CmsError(whyUnreadable(file, error), {
      next: isMissing(error) ? `cms init --example > ${shellWord(file)}` : filesBeside(file),
      exitCode: exitCodes.usage,
    });
  }
  return parseCollaboration(text, file);
}

/** @throws CmsError that names each mistake with its line */
export function parseCollaboration(text: string, file: string): Collaboration {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  refuse(document.errors.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`));
  const parsed = v.safeParse(collaborationSchema, document.toJS());
  if (!parsed.success) {
    const mistakes = parsed.issues.map((issue) => {
      const path = issue.path?.map(({ key }) => key) ?? [];
      const field = path.length === 0 ? '' : `${path.join('.')}: `;
      return { offset: offsetOf(document, path), sentence: `${field}${describe(issue)}` };
    });
    mistakes.sort((one, other) => one.offset - other.offset);
    refuse(mistakes.map(({ offset, sentence }) => `${placeOf(offset)}: ${sentence}`));
    throw new TypeError('An invalid file has at least one mistake.');
  }
  refuse(conflictsIn(parsed.output).map(({ path, problem }) => `${placeOf(offsetOf(document, path))}: ${problem}`));
  return parsed.output;
}

function refuse(mistakes: string[]): void {
  if (mistakes.length > 0) {
    throw new CmsError(mistakes.join('\n'), { next: 'cms init --example', exitCode: exitCodes.usage });
  }
}

function describe({ type, kind, received, expected, message, path }: v.BaseIssue<unknown>): string {
  if (kind === 'schema' && type === 'strict_object' && expected === 'never') {
    return `Unknown field ${String(path?.at(-1)?.key)}.`;
  }
  if (received === 'undefined') return 'A value is required.';
  if (path === undefined) return 'Expected the fields computation and parties.';
  return message.startsWith('Invalid') ? `${message.replace(/^Invalid \w+: /, '')}.` : message;
}

/** Returns where a value begins, or the innermost that is there of those around it. */
function offsetOf(document: Document, path: unknown[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const inner = path.slice(0, depth);
    const parent = document.getIn(inner.slice(0, -1), true);
    const key: unknown = inner.at(-1);
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(key));
      if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0];
    }
    const node = document.getIn(inner, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

/** Finds what the service would refuse: a second algorithm, or two datasets of one name. */
function conflictsIn({ parties }: Collaboration): { path: unknown[]; problem: string }[] {
  const conflicts: { path: unknown[]; problem: string }[] = [];
  const names = new Map<string, string>();
  for (const [user, party] of Object.entries(parties)) {
    for (const [index, { file, name, type }] of (party?.assets ?? []).entries()) {
      const path = ['parties', user, 'assets', index];
      const taken = type === 'algorithm' ? 'the algorithm' : `the dataset ${name ?? file.split('/').at(-1) ?? file}`;
      const first = names.get(taken);
      if (first === undefined) names.set(taken, user);
      else conflicts.push({ path, problem: `${path.join('.')}: ${first} already brings ${taken}.` });
    }
  }
  return conflicts;
}
