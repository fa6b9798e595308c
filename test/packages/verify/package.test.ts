import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstSteps, takeFirstSteps } from '../first-steps.ts';
import { genuineEvidence } from './genuine-evidence.ts';

it('the package of the verifier works as its README says, needs no other package, and finds a missing event', async () => {
  const { folder, printed } = await takeFirstSteps('verify');
  expect(printed).toMatch(firstSteps.verify.printed);
  expect(printed).toMatch(/^added 1 package in /m);
  const licenses = readFileSync(join(folder, 'node_modules/computation-management-verify/dist/licenses.txt'), 'utf8');
  expect(licenses.match(/^\S+(?= \d+\.\d+\.\d+$)/gm)).toEqual(expect.arrayContaining(['canonicalize', 'valibot']));
  writeFileSync(join(folder, 'events.json'), JSON.stringify(genuineEvidence().events.toSpliced(3, 1)));
  expect(spawnSync(process.execPath, ['check.mjs'], { cwd: folder, encoding: 'utf8' }).stdout).toContain('does not hold');
  rmSync(folder, { recursive: true });
});
