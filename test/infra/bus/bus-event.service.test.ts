import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DynamoDBClient, paginateScan, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Client, createClient, type Schemas, waitForRun } from 'computation-management-client';
import { hashOfEvent } from 'computation-management-formats/digests';
import { numberOf } from 'computation-management-formats/identifiers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { busEventTemplate, type BusEvent, eventDetails, journalFilter } from '../../../infra/bus/bus-event.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { startStack, type Stack } from '../../../local/stack.ts';
import { administrativeEvents, lifecycleEvents } from 'computation-management-formats/vocabulary';
import { journalKeys } from '../../../shared/table/keys.ts';
import { newAjv } from '../../support/openapi-document.ts';
import { filledIn, isSelected, streamRecord } from '../../support/pipe.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { digestsIn } from '../../support/approval-digests.ts';

const schema = JSON.parse(readFileSync(new URL('../../../docs/schemas/computation-event.json', import.meta.url), 'utf8')) as {
  allOf: {
    if: { properties: { event_type: { const: string } } };
    then: { properties: { details: { contentSchema: object } } };
  }[];
};
const ajv = newAjv();

/** A user whose identifier has a quote, a backslash and a control character, which must be escaped in JSON. */
const alice = 'al"ice\\\n<$.dynamodb.Keys.pk.S>';
const serverKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

let stack: Stack;
let client: Client;
let items: Record<string, AttributeValue>[];
let journals: Map<string, Schemas['Event'][]>;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  client = createClient({
    baseUrl: stack.baseUrl,
    domain: 'd1',
    token: await stack.token(alice, ['d1:administrator', 'd1:cvm']),
  });
  const ids = [await everyKindOfEvent(), (await client.createComputation({ body: { name: 'Ünïcode 🦉 "quoted"' } })).id];
  journals = new Map();
  for (const id of ids) journals.set(id, (await client.listEvents({ id, limit: 100 })).events.toReversed());
  items = await allItems();
});
afterAll(() => stack.stop());

/** Creates a computation, and does everything with it that the service records an event of. */
async function everyKindOfEvent(): Promise<string> {
  const { id } = await client.createComputation({
    body: { name: 'Iris', agent_config: { server_key: serverKey, cert_file: 'x' } },
  });
  const asset = (asset_type: 'algorithm' | 'dataset', file_name: string) =>
    client.createAsset({ body: { asset: { file_name, asset_type, asset: btoa('print(1)'), use: 'approval' } } });
  const [algorithm, dataset] = [await asset('algorithm', 'a.py'), await asset('dataset', 'd.csv')];
  for (const { id: assetId } of [algorithm, dataset]) await client.linkAsset({ id: assetId, computationID: id });
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  await client.uploadKey({ id, body: { key: Buffer.from(key).toString('base64') } });
  await client.unlinkAsset({ id: dataset.id, computationID: id });
  const digests = digestsIn((await client.call('getManifest', { id })).response.headers);
  await client.approve({ id, body: { ...digests, cvm_ids: ['sim-1'] } });
  await client.withdrawApproval({ id });
  await client.approve({ id, body: { decision: 'refuse', reason: 'Not yet.' } });
  await client.approve({ id, body: digests });
  for (const cvm of ['sim-1', 'sim-reject-1']) {
    const run = await client.startRun({ id, cvm });
    await waitForRun(client, { id, run });
  }
  const run = await client.startRun({ id, cvm: 'sim-slow-1' });
  await client.stopRun({ id });
  await waitForRun(client, { id, run });
  await reviewResults(id);
  await client.removeKey({ id });
  await client.updateComputation({ id, body: { name: 'Iris 2', owner: 'bob' } });
  return id;
}

/** Runs a computation twice with a review of the result, which is released and then withheld. */
async function reviewResults(id: string): Promise<void> {
  const token = await stack.token('rita', ['d1:viewer']);
  const reviewer = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token });
  const result_review = { reviewers: ['rita'], needed: 1 };
  await client.updateComputation({ id, body: { name: 'Iris', consumers: ['carol'], result_review } });
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  await reviewer.uploadKey({ id, body: { key: Buffer.from(key).toString('base64') } });
  await client.approve({ id, body: digestsIn((await client.call('getManifest', { id })).response.headers) });
  for (const decision of ['release', 'withhold'] as const) {
    const run = await client.startRun({ id, cvm: 'sim-1' });
    await waitForRun(client, { id, run });
    const checksum = createHash('sha3-256').update(decision).digest('hex');
    const { upload } = await reviewer.handInResult({ id, run, body: { file_name: 'r.csv', size: decision.length, checksum } });
    if (!upload) throw new Error('There is no upload.');
    await fetch(upload.url, { method: upload.method, headers: upload.headers, body: decision });
    await vi.waitFor(() => reviewer.decideResult({ id, run, body: { decision, checksum } }), untilTestEnds);
  }
}

async function allItems(): Promise<Record<string, AttributeValue>[]> {
  const dynamoDb = new DynamoDBClient({ endpoint: stack.endpoints.dynamoDb, region: 'local', credentials: localCredentials });
  const found: Record<string, AttributeValue>[] = [];
  for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName: stack.tableName })) found.push(...Items);
  dynamoDb.destroy();
  return found;
}

/** Returns the events that the bus carries of the stored items, in the order of computations and numbers. */
function eventsOnBus(): BusEvent[] {
  const passed = items.map((item) => streamRecord(item)).filter((record) => isSelected(journalFilter, record));
  const events = passed.map((record) => filledIn(busEventTemplate, record) as BusEvent);
  return events.sort((a, b) => a.computation_id.localeCompare(b.computation_id) || Number(a.number) - Number(b.number));
}

const decoded = ({ details }: BusEvent) => JSON.parse(Buffer.from(details, 'base64').toString()) as unknown;

describe('the events on the bus', () => {
  it('are those of the journals, as the API returns them', () => {
    const expected = [...journals]
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([computation_id, events]) =>
        events.map(({ hash, previous_hash: _, ...event }, index) => ({
          domain: 'd1',
          computation_id,
          number: String(index + 1),
          ...event,
          hash_base64: Buffer.from(hash, 'hex').toString('base64'),
        })),
      );
    expect(expected.length).toBeGreaterThan(20);
    expect(eventsOnBus()).toEqual(expected);
  });

  it('fit the published schema', () => {
    const validate = ajv.compile(schema);
    for (const event of eventsOnBus()) expect([event, validate(event), validate.errors]).toEqual([event, true, null]);
  });

  it('have the details of the published schema, for every type that the service records', () => {
    const seen = new Set<string>();
    for (const { if: when, then } of schema.allOf) {
      const validate = ajv.compile(then.properties.details.contentSchema);
      const type = when.properties.event_type.const;
      for (const event of eventsOnBus().filter(({ event_type }) => event_type === type)) {
        expect([decoded(event), validate(decoded(event)), validate.errors]).toEqual([decoded(event), true, null]);
        expect(Object.keys(eventDetails[type as keyof typeof eventDetails].entries)).toEqual(
          expect.arrayContaining(Object.keys(decoded(event) as object)),
        );
        seen.add(type);
      }
    }
    const ofReleases = ['key_refused', 'key_released']; // no CVM asks for a key here
    expect([...seen, ...ofReleases].sort()).toEqual([...lifecycleEvents, ...administrativeEvents].sort());
  });

  it('are in the order of their identifiers, and chained by their hashes', () => {
    let before: BusEvent | undefined;
    for (const event of eventsOnBus()) {
      const { domain: _domain, computation_id, number, hash_base64, ...shown } = event;
      const isNext = before?.computation_id === computation_id;
      const previous_hash = isNext && before ? Buffer.from(before.hash_base64, 'base64').toString('hex') : '';
      expect(Buffer.from(hash_base64, 'base64').toString('hex')).toBe(hashOfEvent({ ...shown, previous_hash }));
      expect(numberOf(event.id)).toBe(Number(number));
      before = event;
    }
  });

  it('keep everything else of the table in the service', () => {
    const sent = JSON.stringify(eventsOnBus());
    const kept = items.filter((item) => !isSelected(journalFilter, streamRecord(item)));
    expect(kept.length).toBeGreaterThan(20);
    expect(sent).not.toContain('PRIVATE KEY');
    const ofJournals = journalKeys.partition('');
    const others = kept.filter(({ pk }) => !pk?.S?.startsWith(ofJournals)).flatMap((item) => Object.values(item));
    const secrets = others.flatMap(({ B }) => (B && B.length > 32 ? [Buffer.from(B).toString('base64')] : []));
    expect(secrets.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(sent).not.toContain(secret);
  });

  it('come once for each item: neither its deletion nor a change of it passes the filter', () => {
    for (const name of ['MODIFY', 'REMOVE'] as const) {
      expect(items.filter((item) => isSelected(journalFilter, streamRecord(item, name)))).toEqual([]);
    }
  });
});
