import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AgentConfig, defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { digestOfKey, type SealKey } from '../../../shared/rows/sealed-key.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { allowed, byAlice, computationFields } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { readDefinition } from '../../../shared/rows/definition.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const embedded = sharedByTests(startEmbeddedTable);

const domain = 'd1';
const fields = computationFields();
let seals: string[] = [];
beforeEach(() => {
  seals = [];
});
const policy: AttestationPolicy = { ...strictPolicy, measurements: ['0a'.repeat(48)] };

/** Seals a key in place of KMS. The seal is another one each time. */
const seal: SealKey = async ({ plain }) => {
  seals.push(plain);
  return plain === '' ? '' : { digest: digestOfKey(plain), sealed: `seal ${seals.length} of ${plain}` };
};

async function create(config: Partial<AgentConfig> = {}, consumers: string[] = []): Promise<string> {
  const agent_config = { ...defaultAgentConfig, ...config };
  const { row } = await createComputation(embedded.table, {
    domain,
    fields,
    agent_config,
    seal,
    attestation_policy: null,
    result_review: null,
    consumers,
    providers: [],
    ...byAlice,
  });
  seals = [];
  return row.id;
}

interface Change {
  fields?: Partial<typeof fields>;
  config?: Partial<AgentConfig>;
  policy?: AttestationPolicy | null;
  consumers?: string[];
}
const update = (id: string, change: Change) =>
  updateComputation(embedded.table, {
    domain,
    id,
    seal,
    ...byAlice,
    decide: (_row, definition) => ({
      fields: { ...fields, ...change.fields },
      agent_config: { ...definition.agent_config, server_key: '', ...change.config },
      result_review: definition.result_review,
      attestation_policy: change.policy === undefined ? definition.attestation_policy : change.policy,
      consumers: change.consumers ?? definition.consumers,
      providers: [],
      permitted: allowed(),
    }),
  });
const keyOf = async (id: string) => (await readDefinition(embedded.table, id)).agent_config.server_key;
const version = async (id: string) => (await readComputation(embedded.table, domain, id)).version;
const latestEvent = async (id: string) => (await readEvents(embedded.table, id, {}, { limit: 1, offset: 0 })).events[0];

describe('updateComputation', () => {
  it('keeps the sealed key if the same one is given again, and writes nothing', async () => {
    const id = await create({ server_key: 'PRIVATE' });
    const before = await keyOf(id);
    await update(id, { config: { server_key: 'PRIVATE' } });
    expect([await keyOf(id), seals, await version(id)]).toEqual([before, [], 1]);
  });

  it('seals another key, and drops a key that is not given', async () => {
    const id = await create({ server_key: 'PRIVATE' });
    await update(id, { config: { server_key: 'OTHER' } });
    expect([await keyOf(id), await version(id)]).toEqual([{ digest: digestOfKey('OTHER'), sealed: 'seal 1 of OTHER' }, 2]);
    await update(id, {});
    expect([await keyOf(id), await version(id)]).toEqual(['', 3]);
  });

  it('names what has changed in the event, and never a value', async () => {
    const id = await create();
    await update(id, { fields: { name: 'Other' }, config: { server_key: 'PRIVATE', log_level: 'debug' }, consumers: ['bob'] });
    const event = await latestEvent(id);
    expect(event?.event_type).toBe('updated');
    const details = Buffer.from(event?.details ?? '', 'base64').toString();
    for (const name of ['name', 'agent_config.server_key', 'agent_config.log_level', 'consumers'])
      expect(details).toContain(`"${name}"`);
    for (const other of ['description', 'agent_config.port', 'PRIVATE', 'debug', 'bob', 'Other'])
      expect(details).not.toContain(other);
  });

  it('keeps the attestation policy beside the configuration of the agent, until it is null', async () => {
    const id = await create();
    await update(id, { policy });
    expect(await latestEvent(id)).toMatchObject({ details: Buffer.from('{"fields":["attestation_policy"]}').toString('base64') });
    await update(id, { config: { log_level: 'debug' } });
    expect(await readDefinition(embedded.table, id)).toMatchObject({
      attestation_policy: policy,
      agent_config: { log_level: 'debug' },
    });
    const before = await version(id);
    await update(id, { config: { log_level: 'debug' }, policy: structuredClone(policy) });
    expect(await version(id)).toBe(before);
    await update(id, { config: { log_level: 'debug' }, policy: null });
    expect(await readDefinition(embedded.table, id)).toMatchObject({
      attestation_policy: null,
      result_review: null,
      agent_config: { log_level: 'debug' },
    });
  });

  it('leaves the other parts as they are', async () => {
    const id = await create({ log_level: 'warn' }, ['bob']);
    await update(id, { consumers: ['carol'] });
    expect(await readDefinition(embedded.table, id)).toMatchObject({
      consumers: ['carol'],
      providers: [],
      agent_config: { log_level: 'warn' },
    });
    await update(id, { config: { log_level: 'error' } });
    expect(await readDefinition(embedded.table, id)).toMatchObject({
      consumers: ['carol'],
      providers: [],
      agent_config: { log_level: 'error' },
    });
  });
});
