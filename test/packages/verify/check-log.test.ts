import { generateKeyPairSync, sign } from 'node:crypto';
import { addSignatures, checkpointText, signNote, vkeyOf } from 'computation-management-transparency-log';
import { describe, expect, it } from 'vitest';
import { checkEvidence } from './check-by-test-roots.ts';
import { filesOf, genuineEvidence } from './genuine-evidence.ts';
import { logOf, newTestLog, testLog } from './test-log.ts';
import type { LogKnowledge } from '../../../packages/verify/known-logs.ts';

const genuine = genuineEvidence(2);
const files = filesOf(genuine);

async function said(log: unknown, known?: LogKnowledge, statement: object = genuine.statement) {
  const evidence = JSON.stringify({ statement, signature: genuine.signed(statement), key_id: genuine.key_id, log });
  const findings = await checkEvidence({ ...files, evidence, ...(known && { log: known }) });
  return findings.filter(({ sentence }) => /\blog\b/.test(sentence) && !/another access/.test(sentence));
}
const objections = async (...given: Parameters<typeof said>) =>
  (await said(...given)).flatMap(({ verdict, sentence }) => (verdict === 'does not hold' ? [sentence] : []));

const { log } = genuine;
const [start, end] = log.entries as [(typeof log.entries)[0], (typeof log.entries)[0]];
const checkpoint = start.proof.split('\n\n').slice(1).join('\n\n');

describe('the check of the log', () => {
  it('finds both entries of the run, and says the state of the log in a short form', async () => {
    expect(await said(log)).toEqual([
      {
        verdict: 'holds',
        sentence: expect.stringMatching(/^The log "log\.example\/stage" has the start and the end .* 0 and 1 of its 2\.$/),
      },
      { verdict: 'note', sentence: expect.stringMatching(/^Compare this state of the log with the other parties: 2 \S{43}\.$/) },
    ]);
  });

  it('objects to evidence without proofs, or with others than those of the start and the end', async () => {
    const { entries } = log;
    for (const other of [
      undefined,
      null,
      {},
      { entries: [] },
      { entries: [start] },
      { entries: [end, end] },
      { entries: [...entries, end] },
    ]) {
      expect([other, await objections(other)]).toEqual([other, [expect.stringMatching(/proof/)]]);
    }
    expect(await objections({ entries, origin: 'x' })).toEqual([expect.stringContaining('"origin", which nobody checks')]);
  });

  it('objects to the entry of another run, event, salt, place or log', async () => {
    const { statement } = genuine;
    const otherRun = { ...statement, run: { ...(statement['run'] as object), id: '00000000-0008-8a7f-a328-c20c0c3f04ec' } };
    const otherLog = newTestLog(testLog.origin);
    for (const other of [
      logOf(otherRun),
      logOf({ ...statement, domain: 'd2' }),
      { entries: [{ ...start, salt: end.salt }, end] },
      { entries: [{ ...start, salt: 'AAAA' }, end] },
      { entries: [{ ...start, index: 1 }, end] },
      { entries: [{ ...start, proof: end.proof }, end] },
      logOf(statement, 7, newTestLog('another.example')),
      logOf(statement, 7, otherLog),
    ]) {
      expect(await objections(other)).toEqual([expect.stringContaining('does not prove the run')]);
    }
  });

  it('objects to proofs in two trees, of which nobody can see that one continues the other', async () => {
    const [, other] = logOf(genuine.statement, 9).entries;
    expect(await objections({ entries: [start, other] })).toEqual([expect.stringContaining('in one tree of the log')]);
  });

  it('objects to a log that somebody has seen with another state or key', async () => {
    const { origin, vkey } = testLog;
    const seen = { origin, vkey, checkpoint };
    expect(await objections(log, { seen: [seen] })).toEqual([]);
    const fork = testLog.noteOf(checkpointText({ origin, size: 2, root: new Uint8Array(32) }));
    expect(await objections(log, { seen: [{ ...seen, checkpoint: fork }] })).toEqual([expect.stringContaining('Two histories')]);
    expect(await objections(log, { seen: [{ ...seen, vkey: newTestLog(origin).vkey }] })).toEqual([
      expect.stringContaining('is known with another key too'),
    ]);
    const others = [1, 2].map((byte) => {
      const root = new Uint8Array(32).fill(byte);
      return { ...seen, checkpoint: testLog.noteOf(checkpointText({ origin, size: 9, root })) };
    });
    const two = [expect.stringMatching(/^Two histories: .* is known: 9 \S{43}, beside 9 \S{43}\.$/)];
    expect(await objections(log, { others })).toEqual(two);
    expect(await objections(log, { seen: others.slice(0, 1), others: others.slice(1) })).toEqual(two);
    expect(await objections(log, { seen: [{ ...seen, origin: 'another', checkpoint: fork }] })).toEqual([]);
  });

  it('demands as many witnesses as the reader does', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    const [vkey, other] = ['one', 'other'].map((name) => vkeyOf(name, raw, 'cosignature')) as [string, string];
    const text = checkpoint.slice(0, checkpoint.indexOf('\n\n') + 1);
    const signed = addSignatures(
      checkpoint,
      await signNote(text, { vkey, sign: (message) => sign(null, message, privateKey) }, 1),
    );
    const cosigned = { entries: log.entries.map((each) => ({ ...each, proof: each.proof.replace(checkpoint, signed) })) };
    expect(await objections(cosigned, { witnesses: { vkeys: [vkey, other], needed: 1 } })).toEqual([]);
    expect(await objections(log, { witnesses: { vkeys: [testLog.vkey], needed: 1 } })).toHaveLength(1); // the log is no witness
    expect(await objections({ entries: [cosigned.entries[0], end] }, { witnesses: { vkeys: [vkey], needed: 1 } })).toHaveLength(
      1,
    );
    expect(await objections(cosigned, { witnesses: { vkeys: [vkey, other], needed: 2 } })).toEqual([
      expect.stringContaining('but 2 are demanded'),
    ]);
  });
});
