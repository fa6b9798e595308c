import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lieAboutMachines, wronglyBelieved } from './machine-lies.ts';

const lies = amount({ sample: 100, full: 5_000 });

describe(`a service that lies about machines (seed ${sampleSeed})`, () => {
  it('is believed about none that the policy refuses, and about some that it allows', { timeout: 300_000 }, async () => {
    const random = seededRandom(sampleSeed);
    const exitCodes = new Set<number>();
    for (let told = 0; told < lies; told++) {
      const lie = lieAboutMachines(random);
      const { wrong, exitCode } = await wronglyBelieved(lie);
      expect([lie.what, wrong]).toEqual([lie.what, []]);
      exitCodes.add(exitCode);
    }
    expect([...exitCodes].sort()).toEqual([0, 1, 3]);
  });
});
