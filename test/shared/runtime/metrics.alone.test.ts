import { numberedId } from 'computation-management-formats/identifiers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { putContentCheck } from '../../../shared/assets/content-check.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { collectContent } from '../../../shared/deletion/collect-content.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { foldDueLists } from '../../../shared/lists/fold-due.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { dueFoldKeys, purgeKeys, writableKey } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { aComputation, aReadyComputation, aRun, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  vi.stubEnv('METRICS_NAMESPACE', 'Test');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)) as Record<string, unknown>);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const domain = 'd1';
const later = '2026-03-01T00:00:00.000Z';
/** What was written of one metric, with its dimensions but for the stage. */
const written = (name: string) => lines.filter((line) => name in line).map(({ _aws, stage: _stage, ...rest }) => rest);

describe('a run', () => {
  it('is counted when it starts, and with its outcome when it ends', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const run = await aRun(stores, domain, id);
    expect([written('RunsStarted'), written('RunsEnded')]).toEqual([[{ RunsStarted: 1 }], []]);
    await endRunWith(stores, domain, run, ['Failed', 'Failed']);
    expect([written('RunsStarted'), written('RunsEnded')]).toEqual([[{ RunsStarted: 1 }], [{ RunsEnded: 1, outcome: 'failed' }]]);
  });
});

describe('a scheduled task', () => {
  it('counts the content checks that it has no time for, if there are any', async () => {
    await collectContent(stores.table, stores.content, later);
    lines = [];
    await collectContent(stores.table, stores.content, later);
    expect(written('Waiting')).toEqual([]);
    const putTwo = async () => {
      for (const name of ['a', 'b']) await transact(stores.table, [putContentCheck(`content/d1/${name}`, byAlice.now)]);
    };
    await putTwo();
    await collectContent(stores.table, stores.content, later);
    expect(written('Waiting')).toEqual([]);
    await putTwo();
    await collectContent({ ...stores.table, deadline: () => new Deadline(3_900) }, stores.content, later);
    expect(written('Waiting')).toEqual([{ Waiting: 2, task: 'maintenance/collect-content' }]);
  });

  it('counts a whole read of content checks if it has no time for all that it has read, because more may be due', async () => {
    await collectContent(stores.table, stores.content, later);
    const names = Array.from({ length: 20 }, (_, number) => `content/d1/many-${number}`);
    await transact(
      stores.table,
      names.map((name) => putContentCheck(name, byAlice.now)),
    );
    let milliseconds = 60_000;
    const table = { ...stores.table, deadline: () => new Deadline(milliseconds) };
    const { client, bucket } = stores.content;
    const slow = {
      client,
      get bucket() {
        milliseconds = 3_999; // the time is over while the first ten are deleted
        return bucket;
      },
    };
    expect(await collectContent(table, slow, later, 15)).toBe(10);
    expect(written('Waiting')).toEqual([{ Waiting: 15, task: 'maintenance/collect-content' }]);
    await collectContent(stores.table, stores.content, later);
  });

  describe('that purges for as long as its function may work', () => {
    const purge = { domain, file_name: 'a', asset_type: 'dataset', upload_key: null, by: 'alice', at: byAlice.now };

    /** Purges four assets, whose content takes 40 seconds each, in a call of this many seconds. */
    async function purgeSlowly(seconds: number) {
      for (const id of [1, 2, 3, 4].map(numberedId)) {
        await putItem(stores.table, { ...purgeKeys.purge('asset', id), ...purge, id, content_key: `content/d1/${id}` });
      }
      let now = 0;
      const clock = { ...systemClock, now: () => now, steady: () => now };
      const deadline = () => new Deadline(5_000, clock, { functionTime: seconds * 1000 - now });
      const { client, bucket } = stores.content;
      const slow = {
        client,
        get bucket() {
          now += 40_000; // read once for a deletion
          return bucket;
        },
      };
      return await purgeAll({ ...stores.table, deadline }, slow);
    }

    it('counts those that are open after each minute too', async () => {
      expect(await purgeSlowly(900)).toEqual({ purged: 4, waiting: 0 });
      expect(written('Waiting').map(({ Waiting }) => Waiting)).toEqual([4, 2]);
    });

    it('leaves the others to the next call, without a failure, if the time is over', async () => {
      const { purged, waiting } = await purgeSlowly(100);
      expect(purged + waiting).toBe(4);
      expect(waiting).toBeGreaterThan(0);
      expect(written('Waiting').at(-1)).toEqual({ Waiting: waiting, task: 'maintenance/purge' });
      expect((await purgeAll(stores.table, stores.content)).waiting).toBe(0);
    });

    it('begins none in its last seconds', async () => {
      expect(await purgeSlowly(83)).toEqual({ purged: 2, waiting: 2 });
      expect(await purgeAll(stores.table, stores.content)).toEqual({ purged: 2, waiting: 0 });
    });
  });

  it('counts the purges that are open, if there are any', async () => {
    await purgeAll(stores.table, stores.content);
    expect(written('Waiting')).toEqual([]);
    const [pk = ''] = purgeKeys.shards;
    for (const sk of ['x', 'y', 'z']) await putItem(stores.table, { ...writableKey(pk, sk), domain });
    const failures = ['x', 'y', 'z'].map((sk) => {
      const message = expect.stringMatching(`^${sk} of the domain d1: A stored purge of a computation does not fit`) as string;
      return expect.objectContaining({ message }) as Error;
    });
    const purged = purgeAll(stores.table, stores.content);
    await expect(purged).rejects.toMatchObject({ message: '3 of 3 purges failed.', errors: failures });
    expect(written('Waiting')).toEqual([{ Waiting: 3, task: 'maintenance/purge' }]);
  });

  it('counts the changes in the longest log of a list, if there are any, and names the list', async () => {
    await foldDueLists(stores.table);
    lines = [];
    await foldDueLists(stores.table);
    expect(written('Waiting')).toEqual([]);
    vi.stubEnv('LOG_LEVEL', 'INFO');
    for (const [longest, amounts] of Object.entries({ e1: { e1: 3, e2: 1 }, e2: { e1: 1, e2: 3 } })) {
      lines = [];
      for (const [each, computations] of Object.entries(amounts)) {
        for (let count = 0; count < computations; count++) await aComputation(stores.table, each);
        await putItem(stores.table, {
          ...dueFoldKeys.mark(indexedLists.computations(each).index),
          marked_at: Date.now() - 600_000,
        });
      }
      await foldDueLists(stores.table);
      expect(written('Waiting')).toEqual([{ Waiting: 3, task: 'maintenance/fold-lists' }]);
      const message = 'The list with the most changes that were not folded.';
      expect(written('changes')).toMatchObject([{ level: 'INFO', message, index: `computations#${longest}`, changes: 3 }]);
    }
    expect(written('ListDrift')).toEqual([]);
  });
});
