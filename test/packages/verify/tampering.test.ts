import { describe, expect, it } from 'vitest';
import { checkEvidence } from '../../../packages/verify/check-evidence.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { isFoundAndNamed, objectionsTo } from './find-tampering.ts';
import { genuineEvidence } from './genuine-evidence.ts';
import { genuineFiles, tamper } from './tamperings.ts';

/** `npm run tamper` generates 20,000. */
const tamperings = amount({ sample: 300, full: 20_000 });

describe(`tampering with evidence (seed ${sampleSeed})`, () => {
  it('is found and named, whatever is altered, reordered, dropped or added', () => {
    const random = seededRandom(sampleSeed);
    const genuine = genuineEvidence();
    for (const files of genuineFiles(genuine)) {
      expect(checkEvidence(files).filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    }
    const missed = Array.from({ length: tamperings }, () => tamper(genuine, random)).filter((each) => !isFoundAndNamed(each));
    expect(missed.map((each) => [each.kind, each.what, objectionsTo(each)])).toEqual([]);
  });
});
