import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readMessagesToGateway, removeMessageToGateway, sendToGateway } from '../../../shared/rows/messages-to-gateways.ts';
import {
  clearCommandStream,
  readRegistration,
  recordForwarder,
  setCommandStream,
  type CommandStream,
} from '../../../shared/rows/command-stream.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { cvm, cvmBody } from '../../../shared/openapi/examples.ts';
import { isAlive, renewLease, takeName } from '../../../shared/rows/gateway-lease.ts';
import { gatewayKeys } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { allowed, aReadyComputation, byAlice, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';
import { listCvms, readCvm } from '../../../shared/cvms/read-cvms.ts';

const stores = sharedByTests(startStores);

const at = (seconds: number) => new Date(Date.parse(byAlice.now) + seconds * 1_000).toISOString();
const now = at(0);
const cvmId = 'cvm-1';

/** Registers a CVM in a domain of its own, and makes two gateways. */
async function aCvm() {
  const place = { domain: randomUUID(), cvmId };
  await registerCvm(stores.table, { by: 'root', ...place, given: { description: '' }, now });
  const [one, two] = [randomUUID(), randomUUID()];
  const setStream = (commandStream: CommandStream, instead?: CommandStream, when = now) =>
    setCommandStream(stores.table, place, { commandStream, instead, now: when });
  const commandStream = async () => (await readRegistration(stores.table, place))?.commandStream;
  const presence = async (when: string) => (await readCvm(stores.table, place, when)).presence;
  return { ...place, place, one, two, setStream, commandStream, presence };
}

const renew = (gateway: string, seconds: number, isOver = false) => renewLease(stores.table, gateway, at(seconds), { isOver });

describe('a CVM that a gateway holds', () => {
  it('is connected until 60 seconds after the gateway last renewed its lease, in its answer and in the list', async () => {
    const { domain, place, one, setStream, presence } = await aCvm();
    await setStream({ gateway: one, stream: 's1' });
    await renew(one, 600);
    expect(await presence(at(660))).toMatchObject({ state: 'connected', last_seen_at: at(600) });
    expect(await presence(at(661))).toMatchObject({ state: 'disconnected', last_seen_at: at(600) });
    const { cvms } = await listCvms(stores.table, domain, { limit: 10, offset: 0, now: at(660) });
    expect(cvms.map(({ presence }) => presence.state)).toEqual(['connected']);
    await clearCommandStream(stores.table, place, { stream: 's1', lastSeenAt: at(580) });
    expect(await presence(at(641))).toMatchObject({ state: 'disconnected', last_seen_at: at(580) });
  });

  it('was last heard when it reported something, if its gateway has not renewed its lease since', async () => {
    const { domain, one, setStream, presence } = await aCvm();
    await setStream({ gateway: one, stream: 's1' });
    await renew(one, 5);
    const reports = [{ type: 'heartbeat' as const, fit: 'ready' as const }];
    await recordReports(stores.table, stores.executions, { domain, cvmId, reports, now: at(20) });
    expect((await presence(at(20))).last_seen_at).toBe(at(20));
    await renew(one, 25);
    expect((await presence(at(25))).last_seen_at).toBe(at(25));
  });

  it('takes no run after its gateway has died, and takes one after another gateway holds it', async () => {
    const { domain, one, two, setStream } = await aCvm();
    const { id } = await aReadyComputation(stores, domain);
    const start = (when: string) =>
      startRun(stores.table, stores.executions, { domain, computationId: id, cvmId, by: 'alice', now: when, permit: allowed });
    await setStream({ gateway: one, stream: 's1' });
    await renew(one, 10);
    await renew(two, 100);
    const reason = { code: 'conflict', extras: { reason: 'cvm_not_ready' } };
    await expect(start(at(71))).rejects.toMatchObject({ ...reason, message: expect.stringContaining(at(10)) });
    await setStream({ gateway: two, stream: 's2' }, { gateway: one, stream: 's1' });
    await start(at(71));
  });

  it('is not written when its gateway reports nothing new of it', async () => {
    const { domain, one, two, setStream, presence } = await aCvm();
    await setStream({ gateway: one, stream: 's1' });
    const reports = [{ type: 'heartbeat' as const, agent_state: 'Running', fit: 'busy' as const }];
    const report = (by: string, seconds: number) =>
      recordReports(stores.table, stores.executions, { domain, cvmId, reports, now: at(seconds), by });
    await report(one, 1);
    await report(one, 100);
    expect((await presence(at(100))).last_seen_at).toBe(at(1));
    await report(two, 101);
    expect((await presence(at(101))).last_seen_at).toBe(at(101));
  });

  it('passes to another stream only from the one that was read, and once', async () => {
    const { one, two, setStream, commandStream, place } = await aCvm();
    const [first, second, third] = [
      { gateway: one, stream: 's1' },
      { gateway: two, stream: 's2' },
      { gateway: one, stream: 's3' },
    ];
    expect(await setStream(first)).toBe(true);
    expect(await setStream(second)).toBe(false);
    expect(await setStream(second, first)).toBe(true);
    expect(await setStream(second, first)).toBe(true); // its answer was lost
    expect(await setStream(third, first)).toBe(false);
    await clearCommandStream(stores.table, place, { stream: 's1', lastSeenAt: now });
    expect(await commandStream()).toEqual(second);
    await clearCommandStream(stores.table, place, { stream: 's2', lastSeenAt: now });
    expect(await commandStream()).toBeUndefined();
  });

  it('has its log-forwarder at the gateway that noted it last', async () => {
    const { one, two, place } = await aCvm();
    const forwarder = async () => (await readRegistration(stores.table, place))?.forwarder;
    await recordForwarder(stores.table, place, { gateway: one, isThere: true });
    await recordForwarder(stores.table, place, { gateway: two, isThere: true });
    await recordForwarder(stores.table, place, { gateway: one, isThere: false });
    expect(await forwarder()).toBe(two);
    await recordForwarder(stores.table, place, { gateway: two, isThere: false });
    expect(await forwarder()).toBeUndefined();
  });

  it('is known by the fingerprint of its certificate, if it is registered with one', async () => {
    const { place } = await aCvm();
    const fingerprint = async () => (await readRegistration(stores.table, place))?.certificate;
    expect(await fingerprint()).toBeUndefined();
    const given = { description: '', certificate: cvmBody.certificate };
    await registerCvm(stores.table, { by: 'root', ...place, given, now });
    expect(await fingerprint()).toBe(cvm.certificate_fingerprint);
  });

  it('is not brought back by gateways when it is not registered', async () => {
    const place = { domain: randomUUID(), cvmId };
    expect(
      await setCommandStream(stores.table, place, { commandStream: { gateway: 'g', stream: 's' }, instead: undefined, now }),
    ).toBe(false);
    await recordForwarder(stores.table, place, { gateway: 'g', isThere: true });
    await clearCommandStream(stores.table, place, { stream: 's', lastSeenAt: now });
    expect(await readRegistration(stores.table, place)).toBeUndefined();
  });
});

describe('a gateway', () => {
  it('is alive for 30 seconds after it renewed its lease, unless it ended it', async () => {
    const gateway = randomUUID();
    const alive = (seconds: number) => isAlive(stores.table, gateway, at(seconds));
    expect(await alive(0)).toBe(false);
    await renew(gateway, 0);
    expect([await alive(30), await alive(31)]).toEqual([true, false]);
    await renew(gateway, 0, true);
    expect(await alive(1)).toBe(false);
  });

  it('ends the lease of the gateway that had its name, and keeps when that was last seen', async () => {
    const { one, two, setStream, presence } = await aCvm();
    const name = randomUUID();
    for (const gateway of [one, two]) {
      await takeName(stores.table, gateway, name, now);
      await renew(gateway, 5);
    }
    await setStream({ gateway: one, stream: 's1' });
    await takeName(stores.table, two, name, now); // repeated
    expect([await isAlive(stores.table, one, at(6)), await isAlive(stores.table, two, at(6))]).toEqual([false, true]);
    expect((await presence(at(6))).last_seen_at).toBe(at(5));
  });

  it('keeps its lease and its name for 90 days, so that those of gateways that are gone do not stay', async () => {
    const [gateway, name] = [randomUUID(), randomUUID()];
    await takeName(stores.table, gateway, name, now);
    await renew(gateway, 0);
    const items = await Promise.all(
      [gatewayKeys.lease(gateway), gatewayKeys.name(name)].map((key) => getItem(stores.table, key)),
    );
    const end = Date.parse(now) / 1_000 + 90 * 86_400;
    expect(items.map((item) => item?.['ttl'])).toEqual([end, end]);
  });

  it('gets its messages although one of them cannot be read, which is removed', async () => {
    const gateway = randomUUID();
    const answer = { type: 'answer' as const, id: 'b', state: 'Running' };
    await putItem(stores.table, { ...gatewayKeys.message(gateway, 'a'), type: 'greeting' });
    await sendToGateway(stores.table, gateway, answer, now);
    expect(await readMessagesToGateway(stores.table, gateway)).toEqual([answer]);
    expect(await getItem(stores.table, gatewayKeys.message(gateway, 'a'))).toBeUndefined();
  });

  it('gets each message until it removes it', async () => {
    const gateway = randomUUID();
    const answer = { type: 'answer' as const, id: 'a', state: 'Running' };
    await sendToGateway(stores.table, gateway, answer, now);
    await renew(gateway, 0);
    expect(await readMessagesToGateway(stores.table, gateway)).toEqual([answer]);
    await removeMessageToGateway(stores.table, gateway, 'a');
    await removeMessageToGateway(stores.table, gateway, 'a');
    expect(await readMessagesToGateway(stores.table, gateway)).toEqual([]);
  });
});
