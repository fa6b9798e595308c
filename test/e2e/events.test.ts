import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { opensshKeys } from '../packages/formats/openssh-keys.ts';
import { base64, itAs, newCvm, publicKey, useSession } from '../support/session.ts';
import { markOfPrivateKeys, privateKey } from '../support/suite-state.ts';

const session = useSession();
const list = 'events/list-events';
const getStatus = 'events/get-status';
const upload = 'keys/upload-key';
const check = 'keys/check-key';

const detailsOf = ({ details }: { details: string }) => JSON.parse(Buffer.from(details, 'base64').toString()) as unknown;

describe('the events of a computation', () => {
  it('name type, status, originator, run and CVM, newest first', async () => {
    const me = session.target.idOf('administrator');
    const id = await session.readyComputation();
    const cvm = newCvm();
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed', owner: 'someone' } });
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed', owner: me } });
    const run_id = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const { events, total } = await session.done(list, { path: { id } });
    expect(total).toBe(9);
    expect(events.map(({ event_type, status, originator, run_id: run }) => [event_type, status, originator, run])).toEqual([
      ['completed', 'success', 'system', run_id],
      ['Complete', 'Completed', 'agent', run_id],
      ['started', 'success', me, run_id],
      ['owner_changed', 'success', me, ''],
      ['owner_changed', 'success', me, ''],
      ['updated', 'success', me, ''],
      ['key_uploaded', 'success', me, ''],
      ['asset_linked', 'success', me, ''],
      ['created', 'success', me, ''],
    ]);
    expect(events.map((event) => event.cvm_id)).toEqual([cvm, cvm, cvm, ...Array<string>(6).fill('')]);
    expect(events.map((event) => event.timestamp)).toEqual(
      events
        .map((event) => event.timestamp)
        .sort()
        .reverse(),
    );
    expect(events.slice(3, 7).map(detailsOf)).toEqual([
      { from: 'someone', to: me },
      { from: me, to: 'someone' },
      { fields: ['name'] },
      { fingerprint: expect.stringMatching(/^SHA256:/) },
    ]);
  });

  it('are chained by their hashes, whichever way they are read', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const read = (query: Record<string, string | number>) => session.done(list, { path: { id }, query });
    const events = (await read({ limit: 100 })).events.reverse();
    for (const [index, { hash, ...event }] of events.entries()) {
      expect(hash).toBe(
        createHash('sha256')
          .update(canonicalize(event) ?? '')
          .digest('hex'),
      );
      expect(event.previous_hash).toBe(events[index - 1]?.hash ?? '');
    }
    const known = new Map(events.map((event) => [event.id, event]));
    for (const query of [{ run_id }, { limit: 1, offset: 2 }, { from: events[1]?.timestamp ?? '' }, { originator: 'system' }]) {
      const { events: some } = await read(query);
      expect(some).toEqual(some.map((event) => known.get(event.id)));
    }
    expect(await session.done(getStatus, { path: { id } })).toEqual(events.at(-1));
  });

  it('include none for a request that changes nothing', async () => {
    const { id, name } = await session.createComputation();
    await session.done('computations/update-computation', { path: { id }, body: { name } });
    const key = publicKey();
    for (let times = 0; times < 2; times++) await session.done(upload, { path: { id }, body: { key } });
    const { events } = await session.done(list, { path: { id } });
    expect(events.map((event) => event.event_type)).toEqual(['key_uploaded', 'created']);
  });

  it('never contain a private key', async () => {
    const { id } = await session.createComputation({ agent_config: { server_key: privateKey() } });
    await session.done('computations/update-computation', {
      path: { id },
      body: { name: 'N', agent_config: { server_key: privateKey('second') } },
    });
    const { events } = await session.done(list, { path: { id } });
    expect(JSON.stringify(events.map(detailsOf))).not.toContain(markOfPrivateKeys);
    expect(detailsOf(events[0] ?? { details: '' })).toEqual({ fields: ['name', 'agent_config.server_key'] });
  });

  it('are filtered by each parameter, and by several together', async () => {
    const id = await session.readyComputation();
    const cvms = [newCvm(), newCvm()] as const;
    const runs: string[] = [];
    for (const cvm of cvms) {
      runs.push(await session.startRun(id, cvm));
      await session.endRun(cvm);
    }
    const { events: all } = await session.done(list, { path: { id }, query: { limit: 100 } });
    const filters: [Record<string, string>, (event: (typeof all)[number]) => boolean][] = [
      [{ status: 'Completed' }, (event) => event.status === 'Completed'],
      [{ event_type: 'started' }, (event) => event.event_type === 'started'],
      [{ run_id: runs[0] ?? '' }, (event) => event.run_id === runs[0]],
      [{ cvm_id: cvms[1] }, (event) => event.cvm_id === cvms[1]],
      [{ originator: 'system' }, (event) => event.originator === 'system'],
      [{ run_id: '' }, (event) => event.run_id === ''],
      [{ status: 'nobody says that' }, () => false],
      [{ originator: 'agent', run_id: runs[1] ?? '', cvm_id: cvms[0] }, () => false],
      [
        { originator: 'agent', run_id: runs[1] ?? '', cvm_id: cvms[1], status: 'Completed', event_type: 'Complete' },
        (event) => event.run_id === runs[1] && event.originator === 'agent',
      ],
    ];
    for (const [query, matches] of filters) {
      const events = all.filter(matches);
      expect(await session.done(list, { path: { id }, query })).toEqual({
        events: events.slice(0, 10),
        limit: 10,
        offset: 0,
        total: events.length,
      });
    }
    const paged = await session.done(list, { path: { id }, query: { status: 'success', limit: 2, offset: 1 } });
    const successes = all.filter((event) => event.status === 'success');
    expect(paged).toEqual({ events: successes.slice(1, 3), limit: 2, offset: 1, total: successes.length });
  });

  it('are filtered by time, RFC 3339 or Unix seconds, both bounds inclusive', async () => {
    const id = await session.readyComputation();
    const { events: all, total } = await session.done(list, { path: { id } });
    const times = all.map((event) => event.timestamp);
    const [newest = '', middle = '', oldest = ''] = times;
    const totalOf = async (query: Record<string, string>) => (await session.done(list, { path: { id }, query })).total;
    const within = (from: string, to: string) => times.filter((time) => time >= from && time <= to).length;
    expect(await totalOf({ from: oldest, to: newest })).toBe(total);
    expect(await totalOf({ from: middle })).toBe(within(middle, newest));
    expect(await totalOf({ to: middle })).toBe(within(oldest, middle));
    expect(await totalOf({ from: middle, to: middle })).toBe(within(middle, middle));
    expect(await totalOf({ from: String(Date.parse(middle) / 1000) })).toBe(within(middle, newest));
    expect(await totalOf({ from: middle.replace('Z', '+00:00') })).toBe(within(middle, newest));
    expect(await totalOf({ to: '1' })).toBe(0);
    expect(await totalOf({ from: '2999-01-01T00:00:00Z' })).toBe(0);
  });

  it.each([
    ['from', 'yesterday'],
    ['to', '2025-13-01T00:00:00Z'],
    ['from', ''],
    ['limit', '101'],
    ['type', 'started'],
    ['event_type', 'x'.repeat(61)],
    ['run_id', 'x'.repeat(37)],
    ['cvm_id', 'x'.repeat(65)],
    ['originator', 'x'.repeat(256)],
    ['to', `1.${'0'.repeat(63)}`],
  ])('are refused with 400 for %s=%s', async (name, value) => {
    const { id } = await session.createComputation();
    const { status, errors } = await session.refused(list, { path: { id }, query: { [name]: value } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, `query/${name}`]);
  });
});

describe('the status of a computation', () => {
  it('is its latest lifecycle event, which links, keys and updates do not replace', async () => {
    const id = await session.readyComputation(); // with a link and a key, which do not count
    const latest = async () => (await session.done(getStatus, { path: { id } })).event_type;
    expect(await latest()).toBe('created');
    const cvm = newCvm();
    await session.startRun(id, cvm);
    expect(await latest()).toBe('started');
    await session.endRun(cvm);
    const status = await session.done(getStatus, { path: { id } });
    expect(status).toMatchObject({ event_type: 'completed', status: 'success', originator: 'system', cvm_id: cvm });
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed' } });
    expect(await session.done(getStatus, { path: { id } })).toEqual(status);
  });
});

describe('the keys of participants', () => {
  const formsOf = (key: KeyObject) => ({
    PEM: Buffer.from(key.export({ format: 'pem', type: 'spki' })),
    DER: key.export({ format: 'der', type: 'spki' }),
  });

  it('are accepted as OpenSSH, PEM and DER, for RSA, ECDSA and Ed25519', async () => {
    const { id } = await session.createComputation();
    const generated = [
      generateKeyPairSync('rsa', { modulusLength: 2048 }),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      generateKeyPairSync('ed25519'),
    ];
    const pemAndDer = generated.flatMap(({ publicKey: key }) =>
      Object.values(formsOf(key)).map((form) => form.toString('base64')),
    );
    for (const key of [...opensshKeys.map(({ line }) => base64(line)), ...pemAndDer]) {
      expect(await session.done(upload, { path: { id }, body: { key } })).toEqual({ uploaded: true });
    }
    const { total } = await session.done(list, { path: { id }, query: { event_type: 'key_uploaded' } });
    expect(total).toBe(opensshKeys.length + generated.length); // the DER of a key just sent as PEM changes nothing
  });

  it('are recorded with the fingerprint that ssh-keygen prints', async () => {
    const { id } = await session.createComputation();
    const [{ line, fingerprint } = { line: '', fingerprint: '' }] = opensshKeys;
    await session.done(upload, { path: { id }, body: { key: base64(line) } });
    const { events } = await session.done(list, { path: { id }, query: { event_type: 'key_uploaded' } });
    expect(events.map(detailsOf)).toEqual([{ fingerprint }]);
  });

  it.each([
    ['a private key', base64(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())],
    ['a key of an unsupported algorithm', formsOf(generateKeyPairSync('x25519').publicKey).DER.toString('base64')],
    ['garbage', base64('garbage')],
    ['text that is not base64', '%%%'],
    ['empty text', ''],
    [
      'a key with data after it',
      Buffer.concat([
        createPublicKey(Buffer.from(publicKey(), 'base64')).export({ format: 'der', type: 'spki' }),
        Buffer.from('x'),
      ]).toString('base64'),
    ],
  ])('are refused with 400 when the body has %s', async (_what, key) => {
    const { id } = await session.createComputation();
    const { status, errors } = await session.refused(upload, { path: { id }, body: { key } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, '/key']);
    expect(await session.done(check, { path: { id } })).toEqual({ uploaded: false });
  });

  itAs(['viewer', 'dataset_provider'], 'are stored for each user separately', async () => {
    const { id } = await session.createComputation();
    await session.done(upload, { path: { id }, body: { key: publicKey() }, as: 'viewer' });
    expect(await session.done(check, { path: { id }, as: 'viewer' })).toEqual({ uploaded: true });
    expect(await session.done(check, { path: { id }, as: 'dataset_provider' })).toEqual({ uploaded: false });
    expect(await session.done(check, { path: { id } })).toEqual({ uploaded: false });
  });

  it('are replaced by a later upload, and used for assets of the user that have no key', async () => {
    const id = await session.readyComputation();
    const before = await session.done('runs/get-manifest', { path: { id } });
    await session.done(upload, { path: { id }, body: { key: publicKey() } });
    const after = await session.done('runs/get-manifest', { path: { id } });
    expect(after.algorithm.user_key).not.toBe(before.algorithm.user_key);
    expect(after.result_consumers).toEqual([{ user_key: after.algorithm.user_key }]);
  });
});
