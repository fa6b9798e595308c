import { describe, expect, it } from 'vitest';
import { fatalRefusal } from '../../../../packages/console/runs/key-events.ts';
import { repairOf } from '../../../../packages/console/runs/repair.ts';
import { actsOn, deletedText, keyOfReviewer, resultText } from '../../../../packages/console/runs/result.ts';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { publicKey } from '../../../support/ready-computation.ts';

const review = { reviewers: ['rita', 'ruth'], needed: 2, consumers: ['alice', 'carol'] };
const decided = (reviewer: string, decision: 'release' | 'withhold') => ({ reviewer, decision, note: '', decided_at: '' });
const result = (
  state: 'awaiting_file' | 'under_review' | 'released' | 'withheld',
  decisions = [] as ReturnType<typeof decided>[],
) => ({
  state,
  asset: state === 'awaiting_file' ? null : 'asset-1',
  checksum: state === 'awaiting_file' ? null : 'ab',
  size: 1,
  decisions,
});
const [none, whole] = [
  { mayHandIn: false, mayDecide: false, mayDownload: false },
  { mayHandIn: true, mayDecide: true, mayDownload: true },
];

describe('the result of a run', () => {
  it.each([
    ['rita', result('awaiting_file'), { ...none, mayHandIn: true }],
    ['rita', result('under_review'), whole],
    ['rita', result('under_review', [decided('rita', 'release')]), { ...none, mayDownload: true }],
    ['ruth', result('under_review', [decided('rita', 'release')]), { ...whole, mayHandIn: false }],
    ['carol', result('under_review'), none],
    ['carol', result('released', [decided('rita', 'release'), decided('ruth', 'release')]), { ...none, mayDownload: true }],
    ['carol', result('withheld', [decided('rita', 'withhold')]), none],
    ['vera', result('released'), none],
  ] as const)('lets %s do what the service allows in %j', (user, given, acts) => {
    expect(actsOn(given, review, user)).toEqual(acts);
  });

  it.each([
    [result('awaiting_file'), 'It is in the CVM until a reviewer fetches it there and hands it in: rita, ruth.'],
    [{ ...result('awaiting_file'), asset: 'asset-1' }, 'A reviewer is handing it in: its file has not arrived yet.'],
    [result('under_review', [decided('rita', 'release')]), '1 of 2 releases given. Who has not decided: ruth.'],
    [result('released'), 'Released to alice, carol.'],
    [
      result('withheld', [decided('rita', 'withhold')]),
      'No consumer gets it: only 1 of the 2 releases that it needs can still be given.',
    ],
  ] as const)('%j says where it is', (given, text) => {
    expect(resultText(given, review)).toBe(text);
  });

  it('says when it was released, if it is deleted', () => {
    const decisions = [{ ...decided('rita', 'release'), decided_at: '2026-03-04T12:00:00.000Z' }];
    expect(deletedText({ decisions })).toMatch(/^It was released on .*2026.* and is deleted: its days are over, or the owner/);
  });

  it('is decided on with the key that the manifest has at the place of the reviewer', () => {
    const keys = [publicKey(), publicKey()];
    const manifest = { result_consumers: keys.map((user_key) => ({ user_key })) };
    const keyOf = (user: string) => keyOfReviewer(manifest, review, user);
    expect(keyOf('ruth')).toBe(parsePublicKey(keys[1] ?? '').fingerprint);
    expect(keyOf('carol')).toBeUndefined();
  });
});

it('names the key of a file as the cause of a failed run only if the run failed for this reason', () => {
  const reason = 'The approval of bob was withdrawn.';
  const events = [
    { event_type: 'key_released', details: btoa('{}') },
    { event_type: 'key_refused', details: btoa(JSON.stringify({ asset: 'asset-1', reason })) },
  ];
  expect(fatalRefusal({ status: 'failed', reason }, events)).toBe(reason);
  expect(fatalRefusal({ status: 'failed', reason: 'Killed.' }, events)).toBeUndefined();
  expect(fatalRefusal({ status: 'completed', reason }, events)).toBeUndefined();
  expect(repairOf({ reason, reason_code: null }, 'Receiving the data', reason)).toMatchObject({
    what: reason,
    repair: expect.stringMatching(/^The machine did not get the key/),
    isInLog: false,
  });
});
