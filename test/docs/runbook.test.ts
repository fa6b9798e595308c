import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8');
const sources = globSync('{shared,functions,gateway}/**/*.ts', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

/** The log messages that the runbook tells operators to look for. Those of Node and the SDK are not ours. */
const quoted = [...runbook.matchAll(/\bmessage(?:` is `| = ")([^`"]+)/g)].map(([, message = '']) => message);

describe('docs/runbook.md', () => {
  it('quotes messages', () => expect(quoted.length).toBeGreaterThan(1));

  it.each(quoted)('quotes a message that the service writes: %s', (message) => {
    expect(sources.some((text) => text.includes(message))).toBe(true);
  });
});
