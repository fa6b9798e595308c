import { describe, expect, it } from 'vitest';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import {
  isSpentBy,
  presenceOf,
  presenceToStore,
  whyNotReady,
  type StoredPresence,
  recordPresence,
} from '../../../shared/rows/cvm.ts';
import { getItem } from '../../../shared/table/table.ts';
import { readCvm } from '../../../shared/cvms/read-cvms.ts';

const now = '2025-07-17T08:00:00.000Z';
const ago = (milliseconds: number) => new Date(Date.parse(now) - milliseconds).toISOString();
const free = { isHeld: false, now };

describe('presenceOf', () => {
  it('is disconnected and unknown for a CVM that was never seen', () => {
    const presence = { state: 'disconnected', last_seen_at: null, agent_state: null, fit: 'unknown' };
    expect(presenceOf({}, free)).toEqual(presence);
  });

  it('is connected for 60 seconds after the CVM was heard', () => {
    const state = (milliseconds: number) => presenceOf({ last_seen_at: ago(milliseconds) }, free).state;
    expect([-5, 0, 60_000, 60_001].map(state)).toEqual(['connected', 'connected', 'connected', 'disconnected']);
  });

  it('is busy while a run holds the CVM, except if its agent is spent', () => {
    const fit = (stored: StoredPresence, isHeld: boolean) => presenceOf(stored, { isHeld, now }).fit;
    expect([fit({}, true), fit({ fit: 'ready' }, true), fit({ fit: 'spent' }, true)]).toEqual(['busy', 'busy', 'spent']);
    expect([fit({ fit: 'ready' }, false), fit({ fit: 'busy' }, false)]).toEqual(['ready', 'busy']);
  });
});

describe('whyNotReady', () => {
  it.each([
    [{}, 'The CVM cvm-1 is disconnected: it was never seen.'],
    [{ last_seen_at: ago(61_000), fit: 'ready' }, `The CVM cvm-1 is disconnected: it was last seen at ${ago(61_000)}.`],
    [{ last_seen_at: now, fit: 'spent' }, 'The CVM cvm-1 is spent: restart its agent before the next run.'],
    [{ last_seen_at: now, fit: 'ready' }, undefined],
    [{ last_seen_at: now, fit: 'busy' }, undefined],
    [{ last_seen_at: now }, undefined],
  ] as [StoredPresence, string | undefined][])('of %j is %j', (stored, why) => {
    expect(whyNotReady('cvm-1', stored, now)).toBe(why);
  });
});

describe('presenceToStore', () => {
  const stored: StoredPresence = { last_seen_at: ago(29_999), agent_state: 'Running', fit: 'busy', fit_at: ago(29_999) };

  it('is nothing for 30 seconds if the CVM says nothing new', () => {
    expect(presenceToStore(stored, {}, now)).toBeUndefined();
    expect(presenceToStore(stored, { agent_state: 'Running', fit: 'busy' }, now)).toBeUndefined();
    expect(presenceToStore({ ...stored, last_seen_at: ago(30_000) }, {}, now)).toEqual({ last_seen_at: now });
    expect(presenceToStore({}, {}, now)).toEqual({ last_seen_at: now });
  });

  it('stays spent when its gateway says busy, until that says ready', () => {
    const spent: StoredPresence = { ...stored, fit: 'spent' };
    const busy = { agent_state: 'Running', fit: 'busy' as const };
    expect(presenceToStore({ ...spent, held_by: 'g' }, busy, now, 'g')).toBeUndefined();
    expect(presenceToStore({ ...spent, held_by: 'g' }, { ...busy, fit: 'ready' }, now, 'g')).toMatchObject({ fit: 'ready' });
    expect(presenceToStore(spent, busy, now)).toMatchObject({ fit: 'busy' });
  });

  it('is what the CVM says if that is new', () => {
    expect(presenceToStore(stored, { agent_state: 'Complete' }, now)).toEqual({ last_seen_at: now, agent_state: 'Complete' });
    expect(presenceToStore(stored, { agent_state: 'Running', fit: 'spent' }, now)).toEqual({
      last_seen_at: now,
      agent_state: 'Running',
      fit: 'spent',
      fit_at: now,
    });
  });
});

describe('a CVM that says nothing new', () => {
  it.each([1, 7, 29, 30])('stays connected when it is heard every %i seconds, with up to two writes a minute', (every) => {
    const after = (seconds: number) => ago(-seconds * 1_000);
    let [stored, writes]: [StoredPresence, number] = [{}, 0];
    for (let second = 0; second <= 600; second++) {
      if (second > 0) expect(presenceOf(stored, { isHeld: false, now: after(second) }).state).toBe('connected');
      const changes = second % every === 0 ? presenceToStore(stored, {}, after(second)) : undefined;
      if (changes) [stored, writes] = [{ ...stored, ...changes }, writes + 1];
    }
    expect(writes).toBeLessThanOrEqual(21);
  });
});

describe('isSpentBy', () => {
  const accepted = ago(1_000);

  it.each<[string, StoredPresence, boolean]>([
    ['was ready before it took the run', { fit: 'ready', fit_at: ago(2_000) }, true],
    ['was ready when it took the run', { fit: 'ready', fit_at: accepted }, true],
    ['was busy with the run', { fit: 'busy', fit_at: now }, true],
    ['was restarted since', { fit: 'ready', fit_at: now }, false],
    ['is spent already', { fit: 'spent', fit_at: ago(2_000) }, false],
    ['cannot tell', { fit: 'unknown', fit_at: ago(2_000) }, false],
    ['never said', {}, false],
  ])('of an agent that %s', (_what, stored, isSpent) => {
    expect(isSpentBy(stored, accepted)).toBe(isSpent);
  });
});

const embedded = sharedByTests(startEmbeddedTable);

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

describe('recordPresence', () => {
  it.each([
    ['had reported that it is ready', 'late-word', 'ready'],
    ['had reported nothing', 'first-word', undefined],
  ] as const)(
    'keeps a CVM that %s spent when its gateway reports a busy state that it read before the end of the run',
    async (_what, cvmId, first) => {
      const cvm = { domain: 'd1', cvmId };
      const { table } = embedded;
      const read = () => getItem(table, cvmKeys.cvm(cvm.domain, cvm.cvmId));
      const fit = async () => (await readCvm(table, cvm, at(9))).presence.fit;
      await registerCvm(table, { by: 'root', ...cvm, given: { description: '' }, now: at(0) });
      await recordPresence(table, { ...cvm, now: at(1), by: 'g' }, await read(), { fit: first });
      const before = await read();
      await recordPresence(table, { ...cvm, now: at(2), by: 'g' }, before, { fit: 'spent' });
      await recordPresence(table, { ...cvm, now: at(3), by: 'g' }, before, { fit: 'busy' });
      expect(await fit()).toBe('spent');
      await recordPresence(table, { ...cvm, now: at(4), by: 'g' }, await read(), { fit: 'ready' });
      await recordPresence(table, { ...cvm, now: at(5), by: 'g' }, await read(), { fit: 'busy' });
      expect(await fit()).toBe('busy');
    },
  );
});
