import { numberedId } from 'computation-management-formats/identifiers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { putContentCheck } from '../../../shared/rows/content-check.ts';
import { collectContent } from '../../../shared/assets/collect-content.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { waitFor } from '../../../shared/http/wait.ts';
import { sweepRuns } from '../../../shared/lifecycle/sweep-runs.ts';
import { Deadline, systemClock } from '../../../shared/runtime/deadline.ts';
import { environment } from '../../../shared/runtime/environment.ts';
import { log } from '../../../shared/runtime/log.ts';
import { purgeKeys, writableKey } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { aReadyComputation, aRun, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { aWait } from '../../support/a-wait.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

interface Described {
  name: string;
  message: string;
  cause?: Described;
  errors?: Described[];
}

function errorIn(cause: unknown): Described {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    log('ERROR', 'It failed.', {}, cause);
    const [[line] = []] = write.mock.calls;
    return (JSON.parse(String(line)) as { error: Described }).error;
  } finally {
    write.mockRestore();
  }
}

function count({ cause, errors = [] }: Described): number {
  return 1 + [cause, ...errors].reduce((sum, each) => sum + (each === undefined ? 0 : count(each)), 0);
}

describe('the log entry of an error', () => {
  beforeEach(() => {
    vi.stubEnv('LOG_LEVEL', 'ERROR');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('has the name, message and stack of the error', () => {
    expect(errorIn(new TypeError('Wrong.'))).toEqual({ name: 'TypeError', message: 'Wrong.', stack: expect.any(String) });
  });

  it('has the chain of causes', () => {
    const socket = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = new RangeError('It failed.', { cause: new TypeError('fetch failed', { cause: socket }) });
    expect(errorIn(error)).toMatchObject({
      name: 'RangeError',
      cause: { name: 'TypeError', message: 'fetch failed', cause: { name: 'Error', code: 'ECONNREFUSED' } },
    });
  });

  it('has the status of an SDK error', () => {
    expect(errorIn(Object.assign(new Error('Slow.'), { $metadata: { httpStatusCode: 503 } }))).toMatchObject({ status: 503 });
  });

  it('has each part of an AggregateError with its own cause', () => {
    const parts = [new Error('one', { cause: new Error('why one') }), 'two'];
    expect(errorIn(new AggregateError(parts, '2 of 3 failed.'))).toMatchObject({
      message: '2 of 3 failed.',
      errors: [{ message: 'one', cause: { message: 'why one' } }, 'two'],
    });
  });

  it('has a cause that is not an error as text', () => {
    expect(errorIn(new Error('It failed.', { cause: 'a reason' }))).toMatchObject({ cause: 'a reason' });
  });

  it('has at most 20 errors of circular causes and large aggregates', () => {
    const circular = new Error('again');
    circular.cause = circular;
    expect(count(errorIn(circular))).toBe(20);
    const many = Array.from({ length: 1000 }, (_, index) => new Error(`part ${index}`));
    expect(count(errorIn(new AggregateError(many)))).toBe(20);
  });
});

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
/** Returns what was written of one metric, with its dimensions except the stage. */
const written = (name: string) => lines.filter((line) => name in line).map(({ _aws, stage: _stage, ...rest }) => rest);

describe('a run', () => {
  it('is counted when it starts, and with its outcome when it ends', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const run = await aRun(stores, domain, id);
    expect([written('RunsStarted'), written('RunsEnded')]).toEqual([[{ RunsStarted: 1 }], []]);
    await endRunWith(stores, domain, run, ['Failed', 'Failed']);
    expect([written('RunsStarted'), written('RunsEnded')]).toEqual([[{ RunsStarted: 1 }], [{ RunsEnded: 1, outcome: 'failed' }]]);
  });

  it('that failed has an entry with the run, its CVM and the reason', async () => {
    const { id } = await aReadyComputation(stores, domain);
    vi.stubEnv('LOG_LEVEL', 'INFO');
    const run = await aRun(stores, domain, id);
    await endRunWith(stores, domain, run, ['Failed', 'Failed']);
    const entries = lines.filter(({ message }) => message === 'A run failed.');
    const reason = expect.stringMatching(/./) as string;
    expect(entries).toMatchObject([{ level: 'INFO', domain, computation_id: id, run_id: run, cvm_id: 'cvm-1', reason }]);
  });
});

describe('a request that waits', () => {
  it('is counted if it is not held, because as many are held as may be', async () => {
    const wait = (perStage: number) =>
      waitFor(
        stores.table,
        aWait({ perStage }),
        () => Promise.resolve(0),
        () => false,
      );
    await wait(1);
    expect(written('WaitsRefused')).toEqual([]);
    await wait(0);
    expect(written('WaitsRefused')).toEqual([{ WaitsRefused: 1 }]);
  });
});

describe('a scheduled task', () => {
  it('counts the active runs that the sweep has no calls for, if there are any', async () => {
    for (const cvm of ['cvm-x', 'cvm-y', 'cvm-z']) await aRun(stores, domain, (await aReadyComputation(stores, domain)).id, cvm);
    const sweep = (mostCalls: number) => sweepRuns(stores.table, stores.executions, later, { graceInSeconds: 0, mostCalls });
    await sweep(200);
    expect(written('Waiting')).toEqual([]);
    await sweep(1);
    expect(written('Waiting')).toEqual([{ Waiting: 2, task: 'lifecycle/sweep-runs' }]);
  });

  it('counts the content checks that it has no time for, if there are any', async () => {
    await collectContent(stores.table, stores.content, later);
    lines = [];
    await collectContent(stores.table, stores.content, later);
    expect(written('Waiting')).toEqual([]);
    const putTwo = async () => {
      for (const name of ['a', 'b'])
        await transact(stores.table, [putContentCheck(`content/inline/d1/${numberedId(1)}/${name}`, byAlice.now)]);
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
    const names = Array.from({ length: 20 }, (_, number) => `content/inline/d1/${numberedId(1)}/many-${number}`);
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

    /** Purges four assets, whose content takes 40 seconds each, in a call that has this many seconds. */
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
});

describe('the environment of a function', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('reads a variable at each access', () => {
    vi.stubEnv('TABLE_NAME', 'first');
    expect(environment().TABLE_NAME).toBe('first');
    vi.stubEnv('TABLE_NAME', 'second');
    expect(environment().TABLE_NAME).toBe('second');
  });

  it('throws an error with the name of a missing variable when that is read', () => {
    vi.stubEnv('TABLE_NAME', undefined);
    const variables = environment();
    expect(() => variables.TABLE_NAME).toThrow('The environment variable TABLE_NAME is missing.');
  });

  it('throws an error with the name of an empty variable', () => {
    vi.stubEnv('BUCKET_NAME', '');
    expect(() => environment().BUCKET_NAME).toThrow('The environment variable BUCKET_NAME is empty.');
  });

  it('accepts an empty METRICS_NAMESPACE, which turns metrics off', () => {
    vi.stubEnv('METRICS_NAMESPACE', '');
    expect(environment().METRICS_NAMESPACE).toBe('');
  });

  it('accepts a time as a whole number of seconds', () => {
    vi.stubEnv('ACCEPT_TIMEOUT_SECONDS', '300');
    expect(environment().ACCEPT_TIMEOUT_SECONDS).toBe(300);
  });

  it.each(['0', '-5', '1.5', '5m', ''])('throws an error for a time of %j', (value) => {
    vi.stubEnv('STOP_TIMEOUT_SECONDS', value);
    expect(() => environment().STOP_TIMEOUT_SECONDS).toThrow(
      `The environment variable STOP_TIMEOUT_SECONDS is ${JSON.stringify(value)}; expected a whole number of seconds.`,
    );
  });

  it.each(['0', '200'])('accepts a cap of waits of %s', (value) => {
    vi.stubEnv('WAITS_PER_STAGE', value);
    expect(environment().WAITS_PER_STAGE).toBe(Number(value));
  });

  it.each(['-1', '1.5', '10000', 'many', ''])('throws an error for a cap of waits of %j', (value) => {
    vi.stubEnv('WAITS_PER_DOMAIN', value);
    expect(() => environment().WAITS_PER_DOMAIN).toThrow('expected a whole number from 0 to 9999.');
  });
});
