import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { numberedId } from 'computation-management-formats/identifiers';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LocalUsers } from '../../../local/pages/local-domains.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { closedAt, closeDomain, openDomain } from '../../../shared/rows/closed-domain.ts';
import { contentsOf, type DomainStorage, noCounts, removeDomain } from '../../../shared/domains/remove-domain.ts';
import { takeTokens } from '../../../shared/http/domain-limit.ts';
import { readClaimsOfDomain } from '../../../shared/rows/claim.ts';
import { endRun } from '../../../shared/lifecycle/run-steps.ts';
import { readSweepState, writeSweepState } from '../../../shared/lifecycle/sweep-runs.ts';
import { waysToEnd } from '../../../shared/rows/run.ts';
import { cvmKeys, journalKeys, keyToWrite, limitKeys, listKeys, lists } from '../../../shared/table/keys.ts';
import { type Table, getItem } from '../../../shared/table/table.ts';
import { putItem, putItems } from '../../../shared/table/writes.ts';
import { fillDomain, itemsOf } from './filled-domain.ts';
import { amount } from '../../support/amounts.ts';
import { contentKeys } from '../../support/builders-purge.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { systemClock } from '../../../shared/runtime/deadline.ts';

/** Domains that must not change when d1 is removed: their names begin like `d1`, or `d1` begins like theirs. */
const others = ['d', 'd10', 'd1-x'];

/** The first parts of the names of all partitions that a domain has. A new kind of item must be written by `fillDomain`. */
const kindsOfKeys =
  'agent answers approved asset-key assets claims commands computation computations content-checks content-reads counter cvm cvm-key cvms due-lists find ' +
  'index journal limit linked log logs nodes pending-commands purges releases runs runs-of todo updated uses';

/** Returns whether a key is one of the stage: of its log, which must keep the runs of a removed domain, or of its secret. */
const isOfStage = (key: string) => /^history|^secrets /.test(key);

let stores: Stores;
let users: LocalUsers;
let storage: DomainStorage;
beforeAll(async () => {
  stores = await startStores();
  users = new LocalUsers(undefined);
  storage = {
    clock: systemClock,
    table: stores.table,
    content: stores.content,
    executions: stores.executions,
    users,
    close: () => Promise.resolve({ changesEndAt: 0, isOverAt: 0 }),
    readsEndInMilliseconds: 0,
  };
});
afterAll(() => stores.stop());

/** Returns a table whose process is killed after so many calls. */
function mortal(table: Table, lastCall: number): Table {
  let calls = 0;
  return tableThrough(table, async (send) => {
    if (++calls > lastCall) throw new Error('killed');
    return await send();
  });
}

const options = { domain: 'd1', stop: false, wait: false };
const remove = (more: Partial<DomainStorage> = {}) => removeDomain({ ...storage, ...more }, { ...options, say: () => undefined });

async function endRunsOf(domain: string): Promise<void> {
  for (const claim of await readClaimsOfDomain(stores.table, domain)) {
    await endRun(stores.table, claim, { way: waysToEnd.recordOutcome.failure }, byAlice.now);
  }
}

describe('the removal of a domain', () => {
  it('leaves nothing of everything that the service writes, also when it is killed again and again, and nothing else changes', async () => {
    const { table } = stores;
    for (const domain of others) {
      const { id } = await aReadyComputation(stores, domain);
      await registerCvm(table, { by: 'root', domain, cvmId: 'cvm-1', given: { description: '' }, now: byAlice.now });
      await aRun(stores, domain, id, `cvm-${randomUUID()}`);
      await users.addUser(`user of ${domain}`);
      await users.add(`user of ${domain}`, `${domain}:administrator`);
    }
    await writeSweepState(table, { other: { domain: 'd10', cvm_id: 'cvm-1' } });
    const [before, contentBefore] = [await itemsOf(table), await contentKeys(stores.content)];
    const withoutStage = (items: object) => Object.fromEntries(Object.entries(items).filter(([key]) => !isOfStage(key)));

    await fillDomain(stores);
    const filled = await itemsOf(table);
    const added = Object.keys(withoutStage(filled)).filter((key) => !(key in before));
    expect([...new Set(added.map((key) => key.split('#')[0]))].sort().join(' ')).toBe(kindsOfKeys);
    await users.addUser('ada');
    await users.add('ada', 'd1:administrator');
    await users.add('user of d', 'd1:viewer');
    await expect(remove()).rejects.toThrow(/active\. Wait for the end, or stop active runs with --stop\.$/);
    await endRunsOf('d1');
    expect(await users.membershipsOf('ada')).toEqual(['d1:administrator']);

    let kills = 0;
    for (let lastCall = 1; ; lastCall *= amount({ sample: 3, full: 2 })) {
      try {
        await remove({ table: mortal(table, lastCall) });
        break;
      } catch (error) {
        expect(String(error)).toContain('killed');
        kills += 1;
      }
    }
    expect(kills).toBeGreaterThan(5);
    const after = await itemsOf(table);
    expect(withoutStage(after)).toEqual(withoutStage(before));
    expect(Object.keys(after)).toEqual(expect.arrayContaining(Object.keys(filled).filter(isOfStage)));
    expect(await contentKeys(stores.content)).toEqual(contentBefore);
    expect(await users.membershipsOf('ada')).toBeUndefined();
    expect(await users.membershipsOf('user of d')).toEqual(['d:administrator']);
    expect(await users.membershipsIn('d1')).toEqual([]);
    expect(await users.membershipsIn('d10')).toEqual(['d10:administrator']);
  });

  it('leaves the data, and says so, if earlier requests may still make changes for an hour', async () => {
    await aReadyComputation(stores, 'd1');
    const changesEndAt = Date.now() + 3_600_000;
    const removed = await remove({ close: () => Promise.resolve({ changesEndAt, isOverAt: changesEndAt }) });
    expect(removed).toMatchObject({
      isDataLeft: true,
      repeatAfter: new Date(changesEndAt).toISOString(),
      items: { computations: 0 },
    });
    expect(await remove()).toMatchObject({ items: { computations: 1 } });
  });

  it('reports as removed the numbers that were counted before', async () => {
    await aReadyComputation(stores, 'd1');
    const { items, content, activeRuns } = await contentsOf(storage, 'd1');
    expect({ ...items, content: content.objects, activeRuns }).toMatchObject({
      computations: 1,
      assets: 1,
      runs: 0,
      content: 1,
      activeRuns: 0,
    });
    expect(items.events).toBeGreaterThan(1);
    expect(await remove()).toEqual({ items, content, users: { users: 0, roles: 0 } });
    expect((await remove()).items).toMatchObject({ computations: 0, events: 0, 'other items': 0 });
  });

  const [id, second] = [numberedId(1), numberedId(2)];
  /** Writes a computation without a definition, 130 of its events, which are more than a page of a walk, and a CVM. */
  const fill = () =>
    putItems(stores.table, [
      { ...keyToWrite(listKeys.row(lists.computations('d1'), 1)), id: id, owner: 'alice' },
      ...Array.from({ length: 130 }, (_, number) => ({ ...journalKeys.event(id, number) })),
      { ...listKeys.row(lists.cvms('d1'), 1), id: 'cvm-1' },
      { ...cvmKeys.cvm('d1', 'cvm-1') },
    ]);
  const filled = { ...noCounts(), computations: 1, events: 130, CVMs: 1, 'other items': 1 }; // the row of the CVM
  const left = async () => Object.keys(await itemsOf(stores.table)).filter((key) => key.includes(id) || / ?#d1( |$)/.test(key));

  it('counts computations, events and CVMs by themselves', async () => {
    await fill();
    expect((await contentsOf(storage, 'd1')).items).toEqual(filled);
    expect((await remove()).items).toEqual(filled);
    expect(await left()).toEqual([]);
  });

  it('removes what is written while it waits for earlier requests, once', async () => {
    await fill();
    const wait = vi.fn(async () => {
      await putItem(stores.table, {
        ...keyToWrite(listKeys.row(lists.computations('d1'), 2)),
        id: second,
        owner: 'alice',
      });
    });
    expect((await remove({ clock: { ...systemClock, wait } })).items).toMatchObject({ computations: 2 });
    expect([wait.mock.calls.length, await left()]).toEqual([1, []]);
    expect((await remove({ clock: { ...systemClock, wait } })).items).toEqual(noCounts());
    expect(wait).toHaveBeenCalledOnce();
  });

  it('deletes the row of a computation last, because a repeated removal finds the other items by it', async () => {
    await fill();
    const deletions: string[] = [];
    const table = tableThrough(stores.table, async (send, command) => {
      if (command instanceof BatchWriteCommand) deletions.push(JSON.stringify(command.input.RequestItems));
      return await send();
    });
    await remove({ table });
    const row = deletions.findIndex((deletion) => deletion.includes('computations#d1'));
    expect(deletions.findLastIndex((deletion) => deletion.includes('journal#'))).toBeLessThan(row);
  });

  /** Removes the domain while an item of it is written at the beginning of each of its first passes. */
  async function removeWhileInUse({ passes }: { passes: number }) {
    await fill();
    let begun = 0;
    const table = tableThrough(stores.table, async (send, { input }) => {
      const isFirst = input.ExpressionAttributeValues?.[':pk'] === listKeys.counter(lists.computations('d1')).pk;
      if (isFirst && begun++ < passes) await putItem(stores.table, { ...listKeys.counter(lists.computations('d1')) });
      return await send();
    });
    return await remove({ table });
  }

  it('succeeds if the fifth pass is the first that finds nothing', async () => {
    expect((await removeWhileInUse({ passes: 4 })).items).toMatchObject({ computations: 1, 'other items': 5 });
    expect(await left()).toEqual([]);
  });

  it('fails if something of the domain is found in five passes', async () => {
    await expect(removeWhileInUse({ passes: 5 })).rejects.toThrow('Items of the domain d1 are written again and again.');
    await remove();
  });

  it('makes the sweep forget the claims of the domain, and no others', async () => {
    const [own, other] = ['d1', 'd10'].map((domain) => ({ domain, cvm_id: 'cvm-1' }));
    await writeSweepState(stores.table, { suspect: own, other });
    await remove();
    expect(await readSweepState(stores.table)).toEqual({ other });
    await writeSweepState(stores.table, { suspect: other, other: own });
    await remove();
    expect(await readSweepState(stores.table)).toEqual({ suspect: other });
  });

  it('keeps the domain closed until it is over, and does not count that', async () => {
    await putItem(stores.table, { ...limitKeys.changes('d1') });
    const isOverAt = Date.now() + 3_600_000;
    const incomplete = await remove({ close: () => Promise.resolve({ changesEndAt: 0, isOverAt }) });
    expect([incomplete.items, await left()]).toEqual([noCounts(), ['limit#d1 changes']]);
    await remove();
    expect(await left()).toEqual([]);
  });
});

const embedded = sharedByTests(startEmbeddedTable);

const now = Date.parse('2026-01-01T00:00:00Z');
const hour = 3_600_000;
const week = 7 * 24 * hour;
const close = (domain: string, { at = now, fromNow = false } = {}) =>
  closeDomain(embedded.table, domain, { now: at, fromNow, tokensLiveInSeconds: 3_600 });
const closed = (domain: string, at: number) => closedAt(embedded.table, domain, at);

describe('a closed domain', () => {
  it('stays closed for a week after the last token has expired, and no longer', async () => {
    expect(await close('d1')).toBe(now);
    expect(await closed('d1', now + hour + week - 1)).toBe(now);
    expect(await closed('d1', now + hour + week)).toBeUndefined();
    expect(await getItem(embedded.table, limitKeys.changes('d1'))).toMatchObject({ ttl: (now + hour + week) / 1_000 });
  });

  it('refuses changes until then', async () => {
    await close('d2');
    const take = (at: number) =>
      takeTokens(embedded.table, { perSecond: 50, burst: 500 }, { domain: 'd2', user: 'ada', tokens: 1, now: at });
    expect(await take(now + hour + week - 60_000)).toMatchObject({ isRefused: true });
    expect(await take(now + hour + week)).toMatchObject({ isRefused: false });
  });

  it('counts as closed since the first time when it is closed again, unless that begins anew', async () => {
    await close('d3');
    expect(await close('d3', { at: now + 1 })).toBe(now);
    expect(await close('d3', { at: now + 2, fromNow: true })).toBe(now + 2);
    expect(await closed('d3', now + 2)).toBe(now + 2);
  });

  it('is open as soon as it is opened', async () => {
    await close('d4');
    await openDomain(embedded.table, 'd4');
    expect(await closed('d4', now)).toBeUndefined();
  });
});

describe('a domain that was never closed', () => {
  it('is open at any time, whether it has used its limit or not', async () => {
    await putItem(embedded.table, { ...limitKeys.changes('d5'), full_at: now, closed_at: now });
    expect([await closed('d5', 0), await closed('d5', now), await closed('d6', now)]).toEqual([undefined, undefined, undefined]);
  });
});
