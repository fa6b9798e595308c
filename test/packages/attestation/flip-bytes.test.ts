import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { genuineEvidence, verifiedAfterFlip } from './flip-bytes.ts';

/** `npm run tamper:attestation` flips every bit of them. */
const everyHowMany = amount({ sample: 64, full: 1 });

describe(`evidence with one bit flipped in its signed bytes or its signature (seed ${sampleSeed})`, () => {
  it.each(genuineEvidence())('is never verified: $name', async (genuine) => {
    const random = seededRandom(sampleSeed);
    const start = Math.floor(random() * everyHowMany);
    const flips = genuine.bytes
      .filter((_, index) => index % everyHowMany === start)
      .map((at): [number, number] => [at, Math.floor(random() * 8)]);
    expect((await genuine.verify(genuine.evidence)).verdict).toBe('verified');
    expect(await verifiedAfterFlip(genuine, flips)).toEqual([]);
  });
});
