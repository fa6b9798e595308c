import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { anEvent } from '../../support/append-to-journal.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { exitCodeOf } from '../../../packages/verify/finding.ts';
import { numberedId } from 'computation-management-formats/identifiers';
import { strictPolicy } from '../../support/strict-policy.ts';
import { checkEvidence } from './check-by-test-roots.ts';
import { filesOf, genuineEvidence, hashOfToken } from './genuine-evidence.ts';
import { at, good, ofTdx, otherDocuments, roots } from './lying-machines.ts';
import { lieAboutMachines, wronglyBelieved } from './machine-lies.ts';

const lies = amount({ sample: 70, full: 5_000 });

describe(`a service that lies about machines (seed ${sampleSeed})`, () => {
  it('is believed about none that the policy refuses, and about some that it allows', { timeout: 300_000 }, async () => {
    const random = seededRandom(sampleSeed);
    const exitCodes = new Set<number>();
    for (let told = 0; told < lies; told++) {
      const lie = await lieAboutMachines(random);
      const { wrong, exitCode } = await wronglyBelieved(lie);
      expect([lie.what, wrong]).toEqual([lie.what, []]);
      exitCodes.add(exitCode);
    }
    expect([...exitCodes].sort()).toEqual([0, 1, 3]);
  });
});

describe('a lie about machines that the verifier believes', () => {
  const findingsOf = (otherwise: Parameters<typeof genuineEvidence>[1]) => {
    const attestation_policy = { ...strictPolicy, platforms: ['snp' as const, 'tdx' as const] };
    attestation_policy.measurements = [...strictPolicy.measurements, ofTdx];
    const made = genuineEvidence(2, { configure: (each) => Object.assign(each, { attestation_policy }), ...otherwise });
    return checkEvidence({ ...filesOf({ ...made, events: [...made.before, ...made.events] }), roots });
  };
  const satisfied = { verdict: 'holds', sentence: 'The evidence of the CVM satisfies the attestation policy of the run.' };
  const ofTdxMachine = (name: string, verified_at: string) => {
    const documents = otherDocuments.filter((each) => each.name === name);
    expect(documents).toHaveLength(1);
    return [{ token: good.tdx.token, collateral: documents.map(({ collateral }) => collateral), verified_at }];
  };

  // The run was from second 2 to second 5, and the documents are of second 1,800.
  it('does not hold for a machine that only documents of after the run allow', async () => {
    const findings = await findingsOf({ tokens: ofTdxMachine('of after the run', at(3_600)) });
    expect(findings).not.toContainEqual(satisfied);
  });

  // Section 11 has each token judged as of the start. The verifier judges it as of the time that the service names, if that is later.
  it('does not hold for a machine that no document allows at the start, because the service says that it came later', async () => {
    const tokens = [{ token: good.snp.token }, ...ofTdxMachine('from the middle of the run', at(4))];
    const findings = await findingsOf({ tokens });
    expect(findings).not.toContainEqual(satisfied);
  });

  // The policy has no `allow_used_guest`, and the given journal has an earlier run that completed with the same token.
  it('does not hold for a guest that had an earlier run in the given journal', async () => {
    const of = { run_id: numberedId(43), cvm_id: 'cvm-1' };
    const details = { reason: 'Done.', token_hashes: [hashOfToken(good.snp.token)] };
    const findings = await findingsOf({
      tokens: [{ token: good.snp.token }],
      changeBefore: (events) =>
        void events.push(
          anEvent({ ...of, event_type: 'started', originator: 'alice' }),
          anEvent({ ...of, event_type: 'completed', originator: 'system', status: 'success', details }),
        ),
    });
    expect(exitCodeOf(findings)).not.toBe(0);
  });
});
