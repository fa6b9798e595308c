import { describe, expect, it } from 'vitest';
import type { anEvent } from '../../support/append-to-journal.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { checkEvidence } from './check-by-test-roots.ts';
import { filesOf, genuineEvidence, type Start } from './genuine-evidence.ts';

type Given = Parameters<typeof anEvent>[0];
type Configure = NonNullable<Parameters<typeof genuineEvidence>[1]>['configure'];

const fingerprint = 'ab'.repeat(32);
let asset = '';

/** Lets the dataset of bob, whose approval the run needs, have a key. */
const keyed =
  (more: object = {}, change: (start: Start) => unknown = () => undefined) =>
  (start: Start) => {
    const dataset = start.assets[1];
    if (!dataset) throw new TypeError('There is no dataset.');
    dataset.key = { fingerprint, held: 'party', release_policy: strictPolicy, ...more };
    asset = dataset.id;
    change(start);
  };

const released = (details: object = {}): Given => ({
  event_type: 'key_released',
  originator: 'system',
  status: 'success',
  lifecycle: false,
  details: { asset, number: 1, fingerprint, evidence: 'cd'.repeat(32), tee_key: 'e'.repeat(43), ...details },
});
const byBob = (event_type: string, details: object = {}): Given =>
  ({ event_type, originator: 'bob', run_id: '', cvm_id: '', lifecycle: false, details }) as Given;

/** Returns the findings about releases in evidence of a run with a key and the given events. */
async function found(events: () => Given[], change = keyed(), configure?: Configure): Promise<string[]> {
  const during: Given[] = [];
  const made = genuineEvidence(6, { configure, change: (start) => (change(start), during.push(...events())), duringRun: during });
  const findings = await checkEvidence(filesOf({ ...made, events: [...made.before, ...made.events] }));
  const others = findings.filter(({ verdict, sentence }) => verdict === 'does not hold' && !sentence.includes('released'));
  expect(others).toEqual([]);
  return findings.flatMap(({ verdict, sentence }) => (sentence.includes('released') ? [`${verdict}: ${sentence}`] : []));
}

const again = (start: Start, more: object = {}) => {
  const { digest, configuration_digest } = start.approvals[1] ?? {};
  return { digest, configuration_digest, signed: true, ...more };
};

describe('the check of releases', () => {
  it('finds that four releases of a key hold, and an approval that counts for the run too', async () => {
    let start: Start | undefined;
    const change = keyed({}, (given) => (start = given));
    const events = () => [released(), byBob('approved', start && again(start)), released(), released(), released()];
    expect(await found(events, change)).toEqual([
      'holds: Keys were released 4 times during the run, as its approvals and policies allow.',
    ]);
  });

  it('names a key that was released after an approval had expired, also one that another has replaced since', async () => {
    let start: Start | undefined;
    const change = keyed({}, (given) => (start = given));
    const approved = (more = {}) => byBob('approved', start && again(start, more));
    const until = approved.bind(undefined, { expires_at: '2025-07-17T08:00:03.500Z' }); // between the first event and the next
    const expired = expect.stringMatching(/after the approval of "bob" had expired/) as unknown;
    expect(await found(() => [until(), released()], change)).toEqual([expired]);
    expect(await found(() => [until(), approved(), released()], change)).toEqual([expired]);
  });

  it('says nothing of a run without releases', async () => {
    expect(await found(() => [])).toEqual([]);
  });

  it.each<[string, () => Given[], RegExp, ReturnType<typeof keyed>?, Configure?]>([
    [
      'of an asset that has none',
      () => [released({ asset: 'another' })],
      /^does not hold: .* of an asset without a key: "key_released"/,
    ],
    ['that is another one', () => [released({ fingerprint: 'ef'.repeat(32) })], /another one than the run was started with/],
    ['more than four times', () => Array.from({ length: 5 }, () => released()), /more than 4 times/],
    ['after a withdrawal', () => [byBob('approval_withdrawn'), released()], /after "bob" had taken the approval back/],
    ['after a refusal', () => [byBob('approval_refused'), released()], /after "bob" had taken the approval back/],
    [
      'after the removal of the key of a user',
      () => [byBob('key_removed', { user: 'bob' }), released()],
      /taken the approval back/,
    ],
    ['after an approval of another manifest', () => [byBob('approved', { digest: '0' }), released()], /taken the approval back/],
    [
      'after the agent connected again',
      () => [{ event_type: 'Reconnected', originator: 'gateway', status: 'Reconnected' }, released()],
      /after the agent of the CVM had connected again/,
      keyed(),
      ({ attestation_policy: policy }) => policy && (policy.allow_reconnect = true),
    ],
    [
      'although no policy allows it',
      () => [released()],
      /although no policy says which CVMs/,
      keyed({ release_policy: null }),
      (configuration) => (configuration.attestation_policy = null),
    ],
  ])('names a key that was released %s', async (_what, events, named, change, configure) => {
    const all = await found(events, change, configure);
    expect(all).toContainEqual(expect.stringMatching(named));
    expect(all.filter((each) => each.startsWith('holds'))).toEqual([]);
  });
});
