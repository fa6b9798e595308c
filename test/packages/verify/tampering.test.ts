import { describe, expect, it } from 'vitest';
import { checkEvidence } from './check-by-test-roots.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { isFoundAndNamed, objectionsTo } from './find-tampering.ts';
import { genuineEvidence } from './genuine-evidence.ts';
import { genuineFiles, tamper } from './tamperings.ts';

/** `npm run tamper` generates 20,000. */
const tamperings = amount({ sample: 50, full: 20_000 });

describe(`tampering with evidence (seed ${sampleSeed})`, () => {
  it('is found and named, whatever it alters', async () => {
    const random = seededRandom(sampleSeed);
    const genuine = genuineEvidence();
    for (const files of genuineFiles(genuine)) {
      expect((await checkEvidence(files)).filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    }
    const missed = [];
    for (let made = 0; made < tamperings; made += 1) {
      const each = tamper(genuine, random);
      if (!(await isFoundAndNamed(each))) missed.push([each.kind, each.what, await objectionsTo(each)]);
    }
    expect(missed).toEqual([]);
  });
});
