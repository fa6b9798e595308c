import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { endingEvents } from '../../shared/rows/run.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';

const world = sharedByTests(startGatewayStack);

const refused = () => world.gateway.gateway?.counts.eventsRefused ?? 0;

/** Starts a run on a new CVM, up to the state in which its algorithm works. */
async function atWork(cvmId: string) {
  const started = await world.startRunOn(cvmId);
  started.agent.upload();
  await expect.poll(() => world.journal(started.computationId)).toContain('Running/InProgress');
  return started;
}

describe('an event that an algorithm writes to the socket of the log-forwarder', () => {
  it.each([
    ['patient 17', 'positive', 'agent'],
    ['Running', 'patient 17', 'agent'],
    ['Running', 'Terminated', 'agent'],
    ['AlgorithmRun', 'Warning', 'patient 17'],
  ])('is counted, and is in no journal: %s/%s of %s', async (event_type, status, originator) => {
    const { agent, computationId } = await atWork(
      `unknown-${event_type}-${status}-${originator}`.replaceAll(' ', '_').toLowerCase(),
    );
    const before = refused();
    for (let sent = 0; sent < 3; sent++) agent.event(event_type, status, computationId, originator);
    await expect.poll(refused).toBe(before + 3);
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(JSON.stringify(await world.events(computationId))).not.toMatch(/patient 17|Terminated/);
  });

  it.each(endingEvents)('ends no run whose agent disagrees: %s', async (event) => {
    const { agent, computationId } = await atWork(`early-${event.replace('/', '-').toLowerCase()}`);
    const before = refused();
    const [event_type = '', status = ''] = event.split('/');
    agent.event(event_type, status);
    await expect.poll(refused).toBe(before + 1);
    expect(await world.untilRun(computationId, 'running')).toMatchObject({ ended_at: null });
    expect(await world.journal(computationId)).not.toContain(event);
    agent.finish();
    await world.untilRun(computationId, 'completed');
  });
});

const secret = 'patient 17 is positive';
const secretTime = '4217-02-03T04:05:06.000Z';

/** Everything that an algorithm can write: to stderr, and to the sockets of the log-forwarder in the name of the agent. */
function writeAll(agent: SimulatedAgent, computationId: string): void {
  const hash = createHash('sha3-256').update(secret).digest('hex');
  const lines = [
    secret,
    `failed to run computation: ${secret}`,
    `failed to run computation: algorithm execution error: exit status ${secret}`,
    `failed to run computation: algorithm execution error: exit status 3 ${secret}`,
    `failed to download and decrypt algorithm: ${secret}`,
    `dataset ${secret} hash mismatch: expected ${hash}, got ${hash}`,
    `algorithm hash mismatch: expected ${hash}, got ${hash}`,
  ];
  for (const level of ['DEBUG', 'INFO', 'WARN', 'ERROR', secret]) for (const line of lines) agent.log(level, line);
  const details = Buffer.from(JSON.stringify({ reason: secret }));
  const timestamp = { seconds: String(Date.parse(secretTime) / 1000), nanos: 0 };
  const ofRun = { computation_id: computationId, timestamp, details, originator: 'agent' };
  for (const event of ['AlgorithmRun/Warning', 'Running/Completed', ...endingEvents]) {
    const [event_type = '', status = ''] = event.split('/');
    agent.forward({ agent_event: { ...ofRun, event_type, status } });
    agent.forward({ agent_event: { ...ofRun, event_type, status, originator: secret } });
    agent.forward({ agent_event: { ...ofRun, event_type, status: secret } });
    agent.forward({ agent_event: { ...ofRun, event_type: secret, status } });
  }
}

/** Reads all that a viewer of the domain may read of a run, as JSON, with what is base64 in it decoded too. */
async function readAll(computationId: string, cvmId: string): Promise<string[]> {
  const { stack } = world;
  const view = callAs(stack.baseUrl, await stack.token('vera', ['d1:viewer']));
  const { body } = await view('GET', `/d1/computations/${computationId}`);
  const [[asset], run] = [body['assets'] as { id: string }[], body['run'] as { id: string }];
  const read: string[] = [];
  for (const { method, path } of routes) {
    if (method !== 'GET' || !path.startsWith('/{domainID}')) continue;
    const id = path.includes('/assets/') ? asset?.id : computationId;
    const filled = path
      .replace('{domainID}', 'd1')
      .replace('{id}', String(id))
      .replace('{computationID}', computationId)
      .replace('{cvmID}', cvmId);
    const query = path.endsWith('/find') ? `?q=${cvmId}` : /(evidence|result|run|logs)$/.test(path) ? `?run=${run.id}` : '';
    const { status, body } = await view('GET', filled + query);
    const text = JSON.stringify(body);
    read.push(
      `${status} ${path} ${text}`,
      ...(text.match(/[\w+/=]{8,}/g) ?? []).map((each) => Buffer.from(each, 'base64').toString()),
    );
  }
  return read;
}

describe('the texts of an algorithm', () => {
  it('are nowhere in what a viewer without logs reads, while it works and after it has failed', async () => {
    const cvm = await world.enrol('talkative-1');
    const agent = world.connect(cvm);
    await world.untilReady('talkative-1');
    const computationId = await readyComputation(world.call);
    await world.call('PUT', `/d1/computations/${computationId}`, { name: 'Iris', log_access: 'parties' });
    await world.call('POST', `/d1/computations/${computationId}/run?cvm=talkative-1`);
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
    agent.upload();
    await expect.poll(() => world.journal(computationId)).toContain('Running/InProgress');
    writeAll(agent, computationId);
    const isRead = async () => JSON.stringify((await world.call('GET', `/d1/computations/${computationId}/logs`)).body);
    await expect.poll(isRead).toContain(secret); // the owner reads the log, to whom it is open
    await expect.poll(() => world.journal(computationId)).toContain('AlgorithmRun/Warning');
    const atWork = await readAll(computationId, 'talkative-1');
    agent.fail(secret);
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: 'The CVM failed.', reason_code: null });
    const read = [...atWork, ...(await readAll(computationId, 'talkative-1'))];
    const withheld = read.filter((text) => /^[345]\d\d \//.test(text)).map((text) => text.split(' ', 2).join(' '));
    const always = [
      '403 /{domainID}/computations/{id}/logs',
      '403 /{domainID}/computations/{id}/stop',
      '403 /{domainID}/cvms/{cvmID}/commands',
      '403 /{domainID}/assets/{id}/key',
      '404 /{domainID}/kbs/v0/resource/{resource+}',
      '409 /{domainID}/computations/{id}/result',
    ];
    expect(withheld.sort()).toEqual([...always, ...always, '409 /{domainID}/computations/{id}/evidence'].sort());
    expect(read.filter((text) => text.includes(secret) || text.includes(secretTime.slice(0, 10)))).toEqual([]);
  });

  it('are nowhere in the reason when it ends with an exit code, however it boasts', async () => {
    const { agent, computationId } = await atWork('boastful-1');
    const before = refused();
    writeAll(agent, computationId);
    await expect.poll(refused).toBe(before + 22); // also those with which the agent's state disagrees
    agent.fail();
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: 'The algorithm ended with the exit code 3.' });
  });
});

describe('a fetched file with another hash than the approved one', () => {
  it('ends the run as input_changed, in run, event and evidence, with its name and both hashes', async () => {
    const cvm = await world.enrol('changed-1');
    const agent = world.connect(cvm);
    await world.untilReady('changed-1');
    const computationId = await readyComputation(world.call);
    const [approved, found] = ['numbers', 'others'].map((text) => createHash('sha3-256').update(text).digest('hex'));
    const source = { type: 'https', url: 'https://files.example.com/numbers.csv' };
    const asset = { file_name: 'numbers.csv', asset_type: 'dataset', source, checksum: approved };
    const { id } = (await world.call('POST', '/d1/assets', { asset })).body;
    await world.call('POST', `/d1/assets/${String(id)}/${computationId}`);
    await world.call('POST', `/d1/computations/${computationId}/run?cvm=changed-1`);
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
    agent.failFetching(`dataset numbers.csv hash mismatch: expected ${approved}, got ${found}`);
    const reason = `The agent fetched numbers.csv with the hash ${found}, but ${approved} was approved.`;
    const ended = { status: 'failed', reason, reason_code: 'input_changed' };
    const run = await world.untilRun(computationId, 'failed');
    expect(run).toMatchObject(ended);
    const event = (await world.events(computationId)).find(({ event_type }) => event_type === 'failed');
    expect(JSON.parse(Buffer.from(event?.details ?? '', 'base64').toString())).toMatchObject({
      reason,
      reason_code: 'input_changed',
    });
    const { statement } = (await world.call('GET', `/d1/computations/${computationId}/evidence?run=${run['id'] as string}`))
      .body as {
      statement: { run: object };
    };
    expect(statement.run).toMatchObject(ended);
  });
});
