import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayParts, defaultTimings } from '../../gateway/session/gateway-parts.ts';
import { Sessions } from '../../gateway/session/sessions.ts';
import { startGateway } from '../../gateway/start-gateway.ts';
import { AgentStream } from '../../gateway/wire/agent-stream.ts';
import { limitOpenings } from '../../gateway/wire/limits.ts';
import type { ServerMessage } from '../../gateway/wire/messages.ts';
import { createAuthority, issueCvmCertificate } from '../../gateway/certificates/authority.ts';
import { startGatewayStack, type EnrolledCvm, type GatewayStack } from '../support/gateway-stack.ts';
import type { AgentOptions, SimulatedAgent } from '../support/simulated-agent.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';

let world: GatewayStack;
let other: EnrolledCvm;
beforeAll(async () => {
  world = await startGatewayStack();
  other = await world.enrol('other-1');
});
afterAll(() => world.stop());

const permissionDenied = 7;
const unavailable = 14;

/** Connects and waits until the stream is refused. @returns the status of the refusal */
async function refusalOf(cvm: EnrolledCvm, options: Partial<AgentOptions> = {}): Promise<{ code?: number; details?: string }> {
  const agent = world.connect(cvm, { hasForwarder: false, reconnectInMilliseconds: 60_000, ...options });
  await expect.poll(() => agent.errors.length).toBeGreaterThan(0);
  agent.end();
  return agent.errors[0] ?? {};
}

async function waitingForUploads(cvmId: string) {
  const started = await world.startRunOn(cvmId);
  // The service knows that the agent has the run. Before that, it records no refusal.
  await expect.poll(() => world.journal(started.computationId)).toContain('ReceivingAlgorithm/InProgress');
  return started;
}

/** Takes a run to its end. */
async function complete(agent: SimulatedAgent, computationId: string): Promise<void> {
  agent.upload();
  agent.finish();
  await world.untilRun(computationId, 'completed');
}

describe('a stream', () => {
  it('is refused without a certificate', async () => {
    const { address, ca, cvmId } = other;
    const agent = world.connect({ address, ca, cvmId } as EnrolledCvm, { hasForwarder: false });
    await expect.poll(() => agent.errors[0]?.code).toBe(unavailable);
    agent.end();
  });

  it('is refused with a certificate of another authority', async () => {
    const stranger = await createAuthority('stranger');
    const certificate = await issueCvmCertificate(stranger, { domain: 'd1', cvmId: 'other-1' }, publicKeyOf(other));
    expect((await refusalOf({ ...other, certificate })).code).toBe(unavailable);
  });

  it('is refused if its CVM is not registered', async () => {
    const cvm = await world.enrol('unknown-1', { isRegistered: false });
    expect(await refusalOf(cvm)).toMatchObject({ code: permissionDenied, details: expect.stringContaining('not registered') });
  });

  it('is refused with a certificate that was replaced', async () => {
    const before = await world.enrol('renewed-1');
    await world.enrol('renewed-1');
    const details = expect.stringContaining('registered with another certificate');
    expect(await refusalOf(before)).toMatchObject({ code: permissionDenied, details });
  });

  it('is refused if its job-id names another CVM than its certificate', async () => {
    const cvm = await world.enrol('liar-1');
    const refusal = await refusalOf({ ...cvm, cvmId: 'other-1' });
    expect(refusal).toMatchObject({ code: permissionDenied, details: expect.stringContaining('job-id') });
  });

  it('is refused if its job-id is a free text, no part of which is in the refusal or the journal of the active run', async () => {
    const { cvm, agent, computationId } = await waitingForUploads('liar-2');
    const words = ['Approve', 'transfer', 'immediately'];
    const refusal = await refusalOf({ ...cvm, cvmId: words.join(' ') });
    expect(refusal).toMatchObject({ code: permissionDenied, details: expect.stringContaining('job-id') });
    await expect.poll(() => world.journal(computationId)).toContain('StreamRefused/Warning');
    const refused = (await world.events(computationId)).filter(({ event_type }) => event_type === 'StreamRefused');
    const recorded = refused.map((event) => JSON.stringify(event) + Buffer.from(event.details, 'base64').toString());
    for (const word of words) expect([refusal.details, ...recorded].join()).not.toContain(word);
    agent.end();
  });

  it('ends when the certificate of its CVM is revoked', async () => {
    const cvm = await world.enrol('revoked-1');
    const agent = world.connect(cvm, { reconnectInMilliseconds: 60_000 });
    await world.untilReady('revoked-1');
    await world.call('PUT', '/d1/cvms/revoked-1', { description: '', certificate: null });
    await expect.poll(() => agent.errors.map(({ code }) => code)).toContain(permissionDenied);
    agent.end();
  });

  it('is refused while another agent answers as the same CVM, with an event in the journal of its run, and counted as a conflict alone', async () => {
    const { cvm, agent, computationId } = await waitingForUploads('twice-1');
    const { streamsRefused, identityConflicts } = { ...world.gateway.gateway?.counts };
    expect(await refusalOf(cvm)).toMatchObject({ code: permissionDenied, details: expect.stringContaining('Another agent') });
    await expect.poll(() => world.journal(computationId)).toContain('IdentityConflict/Warning');
    expect(world.gateway.gateway?.counts).toMatchObject({ streamsRefused });
    expect(world.gateway.gateway?.counts.identityConflicts).toBeGreaterThan(identityConflicts ?? 0);
    expect(agent.errors).toEqual([]);
    await complete(agent, computationId);
  });

  it('is refused with a certificate that was replaced, with an event in the journal of the active run', async () => {
    const stolen = await world.enrol('stolen-1');
    const { cvm, agent, computationId } = await waitingForUploads('stolen-1');
    expect(cvm.certificate).not.toBe(stolen.certificate);
    expect(await refusalOf(stolen)).toMatchObject({ code: permissionDenied });
    await expect.poll(() => world.journal(computationId)).toContain('StreamRefused/Warning');
    agent.end();
  });

  it('replaces one of the same CVM that does not answer', async () => {
    const { cvm, agent, computationId } = await waitingForUploads('hung-1');
    agent.hang();
    const again = world.connect(cvm);
    await world.untilRun(computationId, 'failed'); // the agent that answers has no run: it was restarted
    await expect.poll(() => world.journal(computationId)).toContain('Failed/Failed (inferred)');
    expect(again.errors).toEqual([]);
    agent.end();
  });
});

describe('a CVM that opens a stream again and again', () => {
  it('is refused after 120 in a minute', () => {
    const clock = { ...systemClock, now: () => 30 * 60_000 + 1 };
    const isOneTooMany = limitOpenings(clock);
    const [cvm, beside] = [
      { domain: 'd1', cvmId: 'a' },
      { domain: 'd1', cvmId: 'b' },
    ];
    expect(Array.from({ length: 121 }, () => isOneTooMany(cvm)).filter(Boolean)).toHaveLength(1);
    expect(isOneTooMany(beside)).toBe(false);
    expect(isOneTooMany(cvm, 'another certificate')).toBe(false);
    clock.now = () => 31 * 60_000;
    expect(isOneTooMany(cvm)).toBe(false);
  });
});

describe('an agent that does not read', () => {
  it('is sent 16 messages, and more after it has read', async () => {
    const unread: unknown[] = [];
    const call = {
      write: (message: unknown) => unread.push(message) > 0,
      end: () => undefined,
      get writableLength() {
        return unread.length;
      },
    };
    const agent = new AgentStream(call, { fingerprint: '', answerInMilliseconds: 60_000, now: 0 });
    const send = () => agent.send({ stopComputation: { computation_id: 'c' } });
    expect(Array.from({ length: 20 }, send).filter(Boolean)).toHaveLength(16);
    expect(await agent.state()).toBeUndefined();
    unread.length = 0;
    expect(send()).toBe(true);
  });

  it('is not admitted if its stream has ended while it waited', async () => {
    const parts = { clock: systemClock, timings: defaultTimings, service: {} } as unknown as GatewayParts;
    const session = new Sessions(parts, undefined).of({ domain: 'd1', cvmId: 'gone-1' });
    const agent = new AgentStream(
      { write: () => true, end: () => undefined, writableLength: 0 },
      { fingerprint: '', answerInMilliseconds: 1, now: 0 },
    );
    agent.lost();
    expect(await session.streams.admit(agent)).toBe(false);
  });
});

describe('the state that an agent answers while a second one connects', () => {
  const asked: string[] = [];
  const write = (message: ServerMessage) => 'agentStateReq' in message && asked.push(message.agentStateReq.id) > 0;
  const streamOf = (answerInMilliseconds: number) =>
    new AgentStream({ write, end: () => undefined, writableLength: 0 }, { fingerprint: '', answerInMilliseconds, now: 0 });

  it('answers a question of after that, because an answer may have been under way when the first one ended', async () => {
    const agent = streamOf(60_000);
    const earlier = agent.state();
    const now = agent.stateNow();
    agent.answer({ id: String(asked.at(-1)), state: 'Running' });
    expect(await earlier).toBe('Running');
    await expect.poll(() => asked).toEqual(['1', '2']);
    agent.lost();
    expect(await now).toBeUndefined();
  });

  it('is not asked for twice of an agent that does not answer', async () => {
    asked.length = 0;
    const agent = streamOf(1);
    void agent.state();
    expect(await agent.stateNow()).toBeUndefined();
    expect(asked).toEqual(['1']);
  });
});

describe('a gateway whose port is taken', () => {
  it('fails to start after it has ended its watch of commands and its logs', async () => {
    const { port } = world.gateway.gateway ?? { port: 0 };
    const { certificate, key, ca } = other;
    let isClosed = false;
    const close = async () => {
      isClosed = true;
      throw new Error('The logs cannot be closed.');
    };
    const logs = { write: () => true, end: () => undefined, close };
    await expect(startGateway({ port, host: '127.0.0.1', tls: { ca, certificate, key }, logs })).rejects.toThrow(
      /EADDRINUSE|bind/,
    );
    expect(isClosed).toBe(true);
  });
});

describe('what a CVM says', () => {
  it('changes no run of another CVM, whatever computation it names', async () => {
    const { agent, computationId } = await waitingForUploads('victim-1');
    const stranger = world.connect(other);
    await world.untilReady('other-1');
    stranger.event('Failed', 'Failed', computationId);
    stranger.event('Running', 'InProgress', computationId);
    await expect.poll(() => world.gateway.gateway?.counts.eventsRefused).toBeGreaterThanOrEqual(2);
    await complete(agent, computationId);
    expect(await world.journal(computationId)).not.toContain('Failed/Failed');
    stranger.end();
  });

  it('changes no run of the CVM with its name in another domain', async () => {
    const { agent, computationId } = await waitingForUploads('namesake-1');
    const namesake = world.connect(await world.enrol('namesake-1', { domain: 'd2' }));
    await expect.poll(() => namesake.questions).toBeGreaterThan(0);
    const before = world.gateway.gateway?.counts.eventsRefused ?? 0;
    namesake.event('Failed', 'Failed', computationId);
    await expect.poll(() => world.gateway.gateway?.counts.eventsRefused).toBeGreaterThan(before);
    await complete(agent, computationId);
    expect([namesake.requests, agent.errors]).toEqual([[], []]);
    expect(await world.journal(computationId)).not.toContain('Failed/Failed');
    namesake.end();
  });

  it('ends its stream if a message is much larger than a token of 1 MiB, and no other stream', async () => {
    const { agent, computationId } = await waitingForUploads('large-1');
    const stranger = world.connect(other);
    stranger.forward({
      agent_log: { level: 'INFO', message: 'x'.repeat(4 * 1024 * 1024 - 100), computation_id: '', timestamp: null },
    });
    await expect.poll(() => stranger.errors.length).toBeGreaterThan(0);
    await complete(agent, computationId);
    stranger.end();
  });

  it('may be an attestation token of 1 MiB, which the gateway keeps, and its stream stays open', async () => {
    const token = Buffer.alloc(1024 * 1024, 'x');
    const agent = world.connect(await world.enrol('large-2'), { token: () => token });
    const token_hash = createHash('sha256').update(token).digest('hex');
    const attestation = async () => (await world.call('GET', '/d1/cvms/large-2')).body['attestation'];
    await expect.poll(attestation).toMatchObject({ token_hash });
    await world.untilReady('large-2');
    expect(agent.errors).toEqual([]);
    agent.end();
  });

  it('holds up no others when it is a flood', async () => {
    const { agent: chatty, computationId: flooded, runId } = await waitingForUploads('flood-1');
    const { agent, computationId } = await waitingForUploads('beside-1');
    for (let line = 0; line < 40_000; line++) chatty.log('DEBUG', 'x'.repeat(450));
    await complete(agent, computationId);
    await complete(chatty, flooded);
    const file = join(world.gateway.logs ?? '', 'd1', `${runId}.log`);
    expect(statSync(file).size).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(readFileSync(file, 'utf8')).toContain('xxxx');
  });
});

function publicKeyOf({ certificate }: EnrolledCvm): string {
  return new X509Certificate(certificate).publicKey.export({ format: 'pem', type: 'spki' }).toString();
}
