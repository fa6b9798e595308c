import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { evidenceFiles } from '../../../../packages/console/runs/evidence-files.ts';
import { cmsIn } from '../../cms/fake-terminal.ts';
import { genuineEvidence } from '../../verify/genuine-evidence.ts';

it('the command that the console names checks the files that it saves', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { statement, signature, key_id, keys, events } = genuineEvidence();
  const { files, command } = evidenceFiles('r1', {
    evidence: { statement, signature, key_id },
    keys,
    events: events.toReversed(),
  });
  for (const { name, text } of files) writeFileSync(join(directory, name), text);
  const [program, ...args] = command.split(' ').map((word) => (word.endsWith('.json') ? join(directory, word) : word));
  expect(program).toBe('cms');
  const { exitCode, stdout, stderr } = await cmsIn(directory)(...args);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('HOLDS');
  expect(stdout).not.toContain('were not given');
});
