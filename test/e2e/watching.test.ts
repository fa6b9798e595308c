import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { itAs, newCvm, useSession } from '../support/session.ts';

const session = useSession();
const list = 'events/list-events';
const listCommands = 'cvms/list-commands';

type Query = Record<string, string | number>;

const events = (id: string, query: Query) => session.done(list, { path: { id }, query });
const rename = (id: string, name: string) => session.done('computations/update-computation', { path: { id }, body: { name } });

/** Every event of a computation, oldest first. */
async function allEvents(id: string) {
  return (await events(id, { limit: 100 })).events.toReversed();
}

describe('the events after an event', () => {
  it('are those that were recorded later, oldest first, with the total of all', async () => {
    const id = await session.readyComputation();
    await session.startRun(id, newCvm());
    const all = await allEvents(id);
    expect(await events(id, { after: '' })).toEqual({ events: all, limit: 10, offset: 0, total: all.length });
    for (const [index, { id: after }] of all.entries()) {
      const page = { events: all.slice(index + 1, index + 3), limit: 2, offset: 0, total: all.length };
      expect(await events(id, { after, limit: 2 })).toEqual(page);
    }
  });

  it('are filtered by every parameter, and the total counts the matching events before it as well', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const all = await allEvents(id);
    const startedAt = all.find(({ event_type }) => event_type === 'started')?.timestamp ?? '';
    const filters: [Query, (event: (typeof all)[number]) => boolean][] = [
      [{ status: 'success' }, ({ status }) => status === 'success'],
      [{ event_type: 'completed' }, ({ event_type }) => event_type === 'completed'],
      [{ run_id }, (event) => event.run_id === run_id],
      [{ cvm_id: cvm, originator: 'agent' }, ({ cvm_id, originator }) => cvm_id === cvm && originator === 'agent'],
      [{ from: startedAt }, ({ timestamp }) => timestamp >= startedAt],
      [{ to: startedAt, status: 'success' }, ({ timestamp, status }) => timestamp <= startedAt && status === 'success'],
      [{ from: startedAt, to: '2020-01-01T00:00:00Z' }, () => false],
    ];
    for (const [filter, matches] of filters) {
      for (const index of [-1, 2, all.length - 1]) {
        const page = await events(id, { ...filter, after: all[index]?.id ?? '' });
        expect(page).toMatchObject({ events: all.slice(index + 1).filter(matches), total: all.filter(matches).length });
      }
    }
  });

  it('come to a client that continues after the last one it got, each once', async () => {
    const id = await session.readyComputation();
    for (const name of ['A', 'B', 'C', 'D']) await rename(id, name);
    const got: string[] = [];
    for (let after = ''; ; after = got.at(-1) ?? '') {
      const page = await events(id, { after, limit: 3 });
      if (page.events.length === 0) break;
      got.push(...page.events.map((event) => event.id));
    }
    expect(got).toEqual((await allEvents(id)).map((event) => event.id));
  });

  it.each([
    ['offset', { after: '', offset: 0 }],
    ['offset', { after: '', offset: 10 }],
    ['after', { after: 'last' }],
    ['after', { after: randomUUID() }],
    ['after', { after: '00000000-0001-8c3a-9f0e-2b7d41c5e6a8' }],
    ['wait', { after: '', wait: 21 }],
    ['wait', { after: '', wait: -1 }],
    ['wait', { after: '', wait: '1.5' }],
    ['wait', { after: '', wait: '' }],
    ['wait', { wait: 1 }],
  ])('are refused with 400 that names %s for %j', async (name, query) => {
    const id = await session.someComputation();
    const { status, errors } = await session.refused(list, { path: { id }, query });
    expect([status, errors?.map(({ pointer }) => pointer)]).toEqual([400, [`query/${name}`]]);
  });

  it('are refused with 400 after an event of another computation', async () => {
    const [{ id }, other] = [await session.createComputation(), await session.createComputation()];
    const [created] = (await events(other.id, {})).events;
    const query = { after: created?.id ?? '' };
    expect(await session.refused(list, { path: { id }, query })).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('are listed newest first with wait=0 and without after, as without wait', async () => {
    const id = await session.readyComputation();
    expect(await events(id, { wait: 0 })).toEqual(await events(id, {}));
  });

  it.each([
    { after: '', wait: 20 },
    { after: randomUUID(), wait: 20 },
  ])('are 404 at once for %j if there is no computation', async (query) => {
    const id = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
    expect(await session.refused(list, { path: { id }, query })).toMatchObject({ status: 404 });
  });

  itAs(['outsider'], 'are 404 at once for a computation of another domain, whatever the event', async () => {
    const { id } = await session.createComputation();
    const [created] = (await events(id, {})).events;
    for (const after of ['', created?.id ?? '', randomUUID()]) {
      const path = { id, domainID: session.target.otherDomain };
      const refusal = await session.refused(list, { path, query: { after, wait: 20 }, as: 'outsider' });
      expect(refusal).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

describe('a request that waits for events', () => {
  it('is answered as soon as there is one', async () => {
    const { id } = await session.createComputation();
    const [created] = (await events(id, {})).events;
    const waiting = events(id, { after: created?.id ?? '', wait: 20 });
    await rename(id, 'Renamed');
    expect(await waiting).toMatchObject({ events: [{ event_type: 'updated' }], total: 2 });
  });

  it('is answered only with an event that matches its filter, and with the total of those', async () => {
    const id = await session.readyComputation();
    const last = (await allEvents(id)).at(-1)?.id ?? '';
    const cvm = newCvm();
    const waiting = events(id, { after: last, wait: 20, event_type: 'completed' });
    await session.startRun(id, cvm);
    await session.endRun(cvm);
    const answer = await waiting;
    if (answer.events.length > 0) expect(answer).toMatchObject({ events: [{ event_type: 'completed' }], total: 1 });
    else expect(answer).toMatchObject({ total: 0 }); // this machine took more than 20 seconds for the run
  });

  it('is answered at once if there are events already', async () => {
    const { id } = await session.createComputation();
    expect(await events(id, { after: '', wait: 20 })).toMatchObject({ events: [{ event_type: 'created' }], total: 1 });
  });

  it('gets an empty page with the total when its time is up', async () => {
    const id = await session.readyComputation();
    const all = await allEvents(id);
    const page = await events(id, { after: all.at(-1)?.id ?? '', wait: 1 });
    expect(page).toEqual({ events: [], limit: 10, offset: 0, total: all.length });
  });
});

describe('a CVM that waits for commands', () => {
  it('is answered as soon as there is one', async () => {
    const id = await session.readyComputation();
    const cvmID = newCvm();
    const waiting = session.done(listCommands, { path: { cvmID }, query: { wait: 20 }, as: 'cvm' });
    const run_id = await session.startRun(id, cvmID);
    expect(await waiting).toMatchObject({ commands: [{ type: 'run', run_id }] });
    await session.endRun(cvmID);
  });

  it.each([
    ['has not accepted', false],
    ['has accepted', true],
  ])('waits its whole time after it accepted the stop of a run that it %s, and then gets the next run', async (_, isAccepted) => {
    const id = await session.readyComputation();
    const cvmID = newCvm();
    const run_id = await session.startRun(id, cvmID);
    const { id: command_id } = await session.commandFor(cvmID, 'run');
    if (isAccepted) await session.report(cvmID, { run_id, type: 'accepted', command_id });
    await session.done('runs/stop-run', { path: { id } });
    const stop = await session.commandFor(cvmID, 'stop');
    await session.report(cvmID, { run_id, type: 'accepted', command_id: stop.id });
    const poll = async (wait: number) => await session.done(listCommands, { path: { cvmID }, query: { wait }, as: 'cvm' });
    const begun = performance.now();
    const waiting = poll(3).then((work) => ({ work, seconds: (performance.now() - begun) / 1_000 }));
    await poll(1); // the other wait has begun when this one ends
    await session.report(cvmID, { run_id, type: 'event', event_type: 'AlgorithmRun', status: 'InProgress' });
    const { work, seconds } = await waiting;
    expect(work).toMatchObject({ commands: [], run: { id: run_id } });
    expect(seconds).toBeGreaterThan(2.9);
    const next = poll(20);
    await session.report(cvmID, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
    await session.untilStatus(id, 'cancelled');
    const nextRun = await session.startRun(id, cvmID);
    let { commands } = await next;
    if (commands.length === 0) expect((performance.now() - begun) / 1_000).toBeGreaterThan(19); // the run came later
    while (commands.length === 0) ({ commands } = await poll(20));
    expect(commands).toMatchObject([{ type: 'run', run_id: nextRun }]);
    await session.endRun(cvmID);
  });

  it('gets an empty list when its time is up', async () => {
    const request = { path: { cvmID: newCvm() }, query: { wait: 1 }, as: 'cvm' } as const;
    expect(await session.done(listCommands, request)).toMatchObject({ commands: [] });
  });

  it.each([21, -1, '01', 'long'])('is refused with 400 for wait=%s', async (wait) => {
    const { status, errors } = await session.refused(listCommands, { path: { cvmID: newCvm() }, query: { wait }, as: 'cvm' });
    expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/wait']);
  });
});
