import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { firstSteps, takeFirstSteps } from '../first-steps.ts';

it('the package of the lists works as its README says, in an empty folder', async () => {
  const { folder, printed } = await takeFirstSteps('counted-list');
  expect(printed).toMatch(firstSteps['counted-list'].printed);
  rmSync(folder, { recursive: true });
});
