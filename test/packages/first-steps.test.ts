import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { oneOf } from '../support/amounts.ts';
import { firstSteps, takeFirstSteps } from './first-steps.ts';

// `npm run check:packages` takes the first steps with all packages. The others have tests of their own.
it.each(oneOf(['counted-list', 'key-release', 'transparency-log'] as const))(
  'the package %s works as its README says, in an empty folder',
  async (name) => {
    const { folder, printed } = await takeFirstSteps(name);
    expect(printed).toMatch(firstSteps[name].printed);
    rmSync(folder, { recursive: true });
  },
);
