import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lie, wronglyHeld } from './lies.ts';

const lies = amount({ sample: 30, full: 5_000 });

describe(`a service that signs what it likes with its own key (seed ${sampleSeed})`, () => {
  it('gets no approval held that was not given', async () => {
    const random = seededRandom(sampleSeed);
    const told = Array.from({ length: lies }, () => lie(random));
    const believed = await Promise.all(
      told.map(async (each) => (await wronglyHeld(each)).map((sentence) => `${each.what}: ${sentence}`)),
    );
    expect(believed.flat()).toEqual([]);
  });
});
