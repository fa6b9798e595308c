import { appendFile, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appendDecision, type Decision, readDecisions } from '../../../packages/cms/files/decision-log.ts';

const decision: Decision = {
  at: '2025-07-17T08:00:00.000Z',
  decision: 'released',
  reason: '',
  release: 'release',
  asset: 'asset of Ünal',
  run: 'run',
  approval_id: null,
  use: null,
  tee_key: '',
  nonce: '',
  authorization: {},
  evidence: '',
};

it('the log of a broker goes on after a crash in the middle of a line', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'log-')), 'default.jsonl');
  const append = () => appendDecision(file, (before) => Promise.resolve({ ...decision, run: `run ${before.length}` }));
  await append();
  const whole = await readFile(file, 'utf8');
  await appendFile(file, whole.slice(0, 200));
  expect(await readDecisions(file)).toHaveLength(1);
  await append();
  expect((await readDecisions(file)).map(({ run }) => run)).toEqual(['run 0', 'run 1']);
  await appendFile(file, whole);
  await expect(readDecisions(file)).rejects.toThrow('line 3 of');
});
