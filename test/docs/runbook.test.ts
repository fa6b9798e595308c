import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8');
const sources = globSync('{shared,functions,gateway,infra}/**/*.ts', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

/** The log messages that the runbook tells operators to look for. Those of Node and the SDK are not ours. */
const quoted = [...runbook.matchAll(/\bmessage(?:` is `| (?:=|like) ")([^`"]+)/g)].map(([, message = '']) => message);

/** The whole sentences that it quotes, such as reasons. Each stands for what differs in it, as `...` or `<status>`, and is cut there. */
const sentences = [...runbook.matchAll(/`([A-Z][^`]* [^`]*\.)`/g)].map(([, sentence = '']) => {
  const ofCanary = /^Could not (.+): \.\.\.$/.exec(sentence)?.[1];
  return ofCanary === undefined ? sentence.split(/\.\.\.|<[^>]+>/) : [`take('${ofCanary}'`];
});

describe('docs/runbook.md', () => {
  it('quotes messages and sentences', () => {
    expect(quoted.length).toBeGreaterThan(1);
    expect(sentences.length).toBeGreaterThan(1);
  });

  it.each(sentences.map((parts) => [parts.join('...'), parts] as const))('quotes a sentence of the code: %s', (_, parts) => {
    expect(sources.some((text) => parts.every((part) => text.includes(part)))).toBe(true);
  });

  it.each(quoted)('quotes a message that the service writes: %s', (message) => {
    expect(sources.some((text) => text.includes(message))).toBe(true);
  });
});
