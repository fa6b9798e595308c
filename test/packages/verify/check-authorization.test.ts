import { pcrWithManifest } from 'computation-management-attestation';
import { checkAuthorization, exitCodeOf } from 'computation-management-verify';
import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { honest, lieOf, namesOfLies, sent, verify } from './authorization-lies.ts';

const lies = amount({ sample: 1.5 * namesOfLies.length, full: 2_000 });
const check = (parts: ReturnType<typeof honest>) => checkAuthorization(...sent(parts), verify);
const problems = (findings: Awaited<ReturnType<typeof checkAuthorization>>) =>
  findings.flatMap(({ verdict, sentence }) => (verdict === 'holds' || verdict === 'note' ? [] : [sentence]));

describe('checkAuthorization', () => {
  it('lets a key leave for the run that the party approved', async () => {
    expect(problems(await check(honest()))).toEqual([]);
  });

  it('lets no key leave on the word of the service about the manifest, unless the party says so or evidence names it', async () => {
    const parts = honest();
    parts.own.trustsServiceForManifest = false;
    expect(exitCodeOf(await check(parts))).toBe(3);
    const { manifest } = parts.statement;
    parts.asked.evidence = { ...parts.asked.evidence, pcrs: { 16: await pcrWithManifest(manifest) } };
    expect(problems(await check(parts))).toEqual([]);
  });

  it('lets a key leave for a run without limits and signatures, by the approval that this machine kept', async () => {
    const parts = honest();
    const { approval } = parts.own;
    if (!approval) throw new TypeError('There is no approval.');
    const { max_runs: _, approval_id: __, cvm_ids: ___, expires_at: ____, key: _____, ...kept } = approval;
    parts.own.approval = kept;
    const unsigned = {
      signature: null,
      key: null,
      cvm_ids: null,
      expires_at: null,
      max_runs: null,
      use: null,
      approval_id: null,
    };
    Object.assign(parts.statement.approvals[0] ?? {}, unsigned);
    expect(problems(await check(parts))).toEqual(['"bob" did not sign.']);
  });

  it('lets a key leave when an approval has expired that the party did not demand', async () => {
    const parts = honest();
    const [, ofAlice = {}] = parts.statement.approvals;
    Object.assign(ofAlice, { expires_at: '2020-01-01T00:00:00Z', signature: null, key: null });
    const expired = '"alice" has expired';
    const found = async () => problems(await check(parts)).filter((sentence) => sentence.includes(expired));
    expect(await found()).toHaveLength(1);
    Object.assign(parts.own.approval ?? {}, { needed: undefined });
    expect(await found()).toEqual([]);
  });

  it(`lets no key leave for a lie of the service (seed ${sampleSeed})`, async () => {
    const random = seededRandom(sampleSeed);
    const released: string[] = [];
    for (let index = 0; index < lies; index += 1) {
      const { what, told } = lieOf(
        namesOfLies[index % namesOfLies.length] ?? '',
        random,
        index < namesOfLies.length ? 0 : undefined,
      );
      if (exitCodeOf(await checkAuthorization(...told, verify)) === 0) released.push(what);
    }
    expect(released).toEqual([]);
  });
});
