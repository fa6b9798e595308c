import { generateKeyPairSync, sign } from 'node:crypto';
import {
  addSignatures,
  checkpointIn,
  consistencyProof,
  type ReadTile,
  signNote,
  type Tree,
  verifyConsistency,
  vkeyOf,
} from 'computation-management-transparency-log';
import { findSecondEntries, followLog, LogAlarm, logOfEvidence, type SeenLog } from 'computation-management-verify';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../../../packages/verify/check-log.ts';
import type { WitnessPolicy } from '../../../packages/verify/known-logs.ts';
import type { Statement, LogProofs } from '../../../packages/verify/statement.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { genuineEvidence } from './genuine-evidence.ts';
import { History } from './histories.ts';
import { newTestLog } from './test-log.ts';
import { pick, whole } from './tamperings.ts';

const forks = amount({ sample: 30, full: 2_000 });
const random = seededRandom(sampleSeed);
const log = newTestLog('stage.example');

/** A run as an honest service states it, and as a lying one does: with the same identifiers, and other events. */
const [truth, lie] = [undefined, 'Lied.'].map((reason) => {
  const { statement } = genuineEvidence(1, reason === undefined ? {} : { changeBefore: (events) => void events.pop() });
  return { ...statement, log: { origin: log.origin, vkey: log.vkey } } as unknown as Statement;
}) as [Statement, Statement];

const someEntries = (most: number) =>
  Array.from({ length: whole(random, most + 1) }, () => Uint8Array.from({ length: 64 }, () => whole(random, 256)));

/** A party: what it was given as evidence, and what the service shows it from then on. */
interface Party {
  statement: Statement;
  proofs: LogProofs;
  /** The checkpoint and the tiles that the service shows it at its contacts. */
  shown: { published: string; readTile: ReadTile };
}

/** Checks evidence and log as `cms` does at each contact. Returns the log as the party sees it then. @throws LogAlarm */
async function contact({ statement, proofs, shown }: Party, others: readonly SeenLog[] = [], witnesses?: WitnessPolicy) {
  const findings = await checkLog(statement, proofs, witnesses && { witnesses });
  const objection = findings.find(({ verdict }) => verdict === 'does not hold');
  if (objection) throw new LogAlarm(objection.sentence, []);
  const { log: seen, tags } = await logOfEvidence(JSON.stringify({ statement, log: proofs }));
  const followed = await followLog([seen, ...others], shown.published, shown.readTile);
  await findSecondEntries(followed, 0, tags, shown.readTile);
  return followed;
}

/** Returns whether a party has no objection. */
async function believes(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof LogAlarm) return false;
    throw error;
  }
}

/** A witness of the log: signs a checkpoint that continues the one that it signed last. */
function newWitness() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const vkey = vkeyOf('witness.example', publicKey.export({ format: 'der', type: 'spki' }).subarray(-32), 'cosignature');
  let last: Tree | undefined;
  return {
    vkey,
    cosign: async ({ checkpoint, readTile }: History): Promise<string> => {
      const now = checkpointIn(checkpoint);
      const isNext =
        !last || (last.size <= now.size && verifyConsistency(last, now, await consistencyProof(last.size, now.size, readTile)));
      if (!isNext) return checkpoint;
      last = now;
      const [text = ''] = checkpoint.split('\n\n');
      return addSignatures(
        checkpoint,
        await signNote(`${text}\n`, { vkey, sign: (message) => sign(null, message, privateKey) }, 1),
      );
    },
  };
}

const withCheckpoint = ({ entries }: LogProofs, checkpoint: string): LogProofs => ({
  entries: entries.map((entry) => ({ ...entry, proof: `${entry.proof.split('\n\n')[0]}\n\n${checkpoint}` })),
});

/** Lets a service fork its log somewhere, and give two parties evidence of one run from the two histories. */
async function forkSomewhere() {
  const first = new History(log);
  await first.grow(someEntries(pick([3, 300, 600], random)));
  const second = await first.fork(whole(random, first.tree.size + 1));
  await second.grow(someEntries(5));
  const proofs = await first.growByRun(truth, 1, someEntries(3));
  const lied = await second.growByRun(lie, 2, someEntries(3));
  return { first, second, proofs, lied };
}

/** The ways in which a lying service answers a party that knows a checkpoint of the other history: with one of both, or a mixture. */
const answers: Record<string, (own: History, other: History) => Party['shown']> = {
  'its own history': (own) => ({ published: own.checkpoint, readTile: own.readTile }),
  'the other history': (_, other) => ({ published: other.checkpoint, readTile: other.readTile }),
  'tiles of the other history': (own, other) => ({ published: own.checkpoint, readTile: other.readTile }),
  'tiles of both': (own, other) => ({
    published: own.checkpoint,
    readTile: async (path) => (random() < 0.5 ? own : other).readTile(path),
  }),
  'no tiles': (own) => ({ published: own.checkpoint, readTile: async () => undefined }),
};

describe(`a service with two histories (seed ${sampleSeed})`, () => {
  it(
    'is not believed by two parties who exchange a checkpoint, have one witness, or look for their tags',
    { timeout: 600_000 },
    async () => {
      const believed: string[] = [];
      for (let told = 0; told < forks; told += 1) {
        if (told % 2 === 0) {
          const { first, second, proofs, lied } = await forkSomewhere();
          await first.grow(someEntries(4));
          await second.grow(someEntries(4));
          const parties = [
            { statement: truth, proofs, own: first, other: second },
            { statement: lie, proofs: lied, own: second, other: first },
          ] as const;
          const alone = await Promise.all(
            parties.map(({ own, ...party }) =>
              contact({ ...party, shown: { published: own.checkpoint, readTile: own.readTile } }),
            ),
          ); // alone, each of them believes
          const way = pick(Object.keys(answers), random);
          const both = await Promise.all(
            parties.map(({ own, other, ...party }, at) => {
              const shown = answers[way]?.(own, other) ?? { published: '', readTile: own.readTile };
              return believes(() => contact({ ...party, shown }, alone.slice(1 - at, 2 - at)));
            }),
          );
          if (both.every(Boolean)) believed.push(`a checkpoint exchanged: ${way}`);
          if (both.some(Boolean)) believed.push(`one of the parties: ${way}`);
          const witness = newWitness();
          const policy = { vkeys: [witness.vkey], needed: 1 };
          const signed: string[] = [];
          for (const history of [await first.fork(first.tree.size), second]) signed.push(await witness.cosign(history));
          const witnessed = await Promise.all(
            parties.map(async ({ own, statement, proofs: { entries } }, at) => {
              const given = await own.prove(
                entries,
                entries.map(({ index }) => index),
              );
              const party = {
                statement,
                proofs: withCheckpoint(given, signed[at] ?? ''),
                shown: { published: own.checkpoint, readTile: own.readTile },
              };
              return believes(() => contact(party, [], policy));
            }),
          );
          if (witnessed.every(Boolean)) believed.push('one witness');
          if (!witnessed[0]) believed.push('the history that the witness signed is refused');
        } else {
          const one = new History(log);
          await one.grow(someEntries(300));
          const proofs = await one.growByRun(truth, 1, someEntries(2));
          await one.grow(someEntries(300));
          const lied = await one.growByRun(lie, 2);
          const way = pick(['as it is', 'other entries', 'no entries'], random);
          const readTile: ReadTile = async (path) => {
            const bytes = await one.readTile(path);
            if (way === 'as it is' || !path.startsWith('tile/entries/') || !bytes) return bytes;
            return way === 'no entries' ? undefined : bytes.map((byte, at) => (at % 66 < 2 || random() < 0.9 ? byte : byte ^ 1));
          };
          const shown = { published: one.checkpoint, readTile };
          const both = await Promise.all([
            believes(() => contact({ statement: truth, proofs, shown })),
            believes(() => contact({ statement: lie, proofs: lied, shown })),
          ]);
          if (both.some(Boolean)) believed.push(`two entries in one log: ${way}`);
        }
      }
      expect(believed).toEqual([]);
    },
  );

  it('is believed where it has one history, whenever the parties look', async () => {
    for (let told = 0; told < forks / 4; told += 1) {
      const one = new History(log);
      await one.grow(someEntries(300));
      const proofs = await one.growByRun(truth, 1, someEntries(2));
      const early = { published: one.checkpoint, readTile: one.readTile };
      const seen = await contact({ statement: truth, proofs, shown: early });
      await one.grow([...someEntries(600), new Uint8Array(64)]);
      const shown = { published: one.checkpoint, readTile: one.readTile };
      const other = await contact({ statement: truth, proofs, shown }, [seen]);
      expect(other.checkpoint).toBe(one.checkpoint);
      await expect(contact({ statement: truth, proofs, shown: early }, [other])).rejects.toThrow(/went back|continue/);
    }
  });

  it('cannot hide a fork behind another name or key, or an unsigned checkpoint', async () => {
    const { first, proofs } = await forkSomewhere();
    const { log: seen } = await logOfEvidence(JSON.stringify({ statement: truth, log: proofs }));
    const shown = [first.checkpoint, first.readTile] as const;
    expect(await followLog([seen], ...shown)).toEqual({ ...seen, checkpoint: first.checkpoint });
    const other = newTestLog(log.origin);
    await expect(followLog([seen, { ...seen, vkey: other.vkey }], ...shown)).rejects.toThrow(/shown two logs/);
    await expect(followLog([seen, { ...seen, origin: 'other' }], ...shown)).rejects.toThrow(/shown two logs/);
    const forged = other.noteOf(first.checkpoint.slice(0, first.checkpoint.indexOf('\n\n') + 1));
    await expect(followLog([seen], forged, first.readTile)).rejects.toThrow(/has not signed/);
  });
});
