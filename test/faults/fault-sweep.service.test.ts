import { beforeEach, describe, expect, it } from 'vitest';
import { seededRandom, shuffled } from '../support/seeded-random.ts';
import { faultsOf, openSweep, subjects } from './fault-sweep.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { oneIn } from '../support/amounts.ts';

beforeEach(oneIn(2));

/** `npm run test:faults` sweeps all of them. FAULT_SEED repeats a sample. */
const seed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);

const writes = subjects.filter(({ title }) => !/^GET /.test(title));
const sample = shuffled(writes, random).slice(0, 6);

const sweep = sharedByTests(openSweep);

describe(`a fault at a call to AWS (seed ${seed})`, () => {
  it.each(sample)('leaves no trace once the request is repeated: $title', async (subject) => {
    const calls = await sweep.undisturbed(subject);
    for (const fault of shuffled(faultsOf(calls), random).slice(0, 2)) {
      expect([fault, calls[fault.call], await sweep.disturb(subject, fault)]).toEqual([fault, calls[fault.call], []]);
    }
  });
});
