import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { issueCvmCertificate } from '../../gateway/certificates/authority.ts';
import { amount, sampleSeed } from '../support/amounts.ts';
import { computationWithPolicy, machineToken, trustForgedMachines, untilAttested } from '../support/attested-agents.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import type { AgentOptions, SimulatedAgent } from '../support/simulated-agent.ts';

const world = sharedByTests(() => startGatewayStack({}, { ofItsOwn: true }));
let asCvm: Call;
beforeAll(async () => {
  trustForgedMachines();
  asCvm = callAs(world.stack.baseUrl, await world.stack.token('cvm', ['d1:cvm']));
});

const moments = ['before', 'at delivery', 'after'] as const;
type Moment = (typeof moments)[number];

/** The history of a run with a policy on one CVM, and of the two to five agents that want to have it. */
interface History {
  cvmId: string;
  /** The agent whose machine satisfies the policy. */
  genuine: SimulatedAgent;
  /** The last attestation token of that machine. */
  token: Uint8Array;
  /** Connects another agent with the key and certificate of the CVM. It sends no attestation. */
  join: (state: string, more?: Partial<AgentOptions>) => SimulatedAgent;
  /** Ends the gateway of the genuine agent. The agent comes back at another one. */
  endGateway: () => Promise<void>;
  random: () => number;
}

/** An event of a history, with the moments and policies in which an honest run survives it. */
interface Happening {
  happen: (history: History) => unknown;
  survives: (moment: Moment, allowsReconnect: boolean) => boolean;
}

const always = () => true;
const never = () => false;
const ifAllowed = (_: Moment, allowsReconnect: boolean) => allowsReconnect;

const happenings: Record<string, Happening> = {
  'a second agent connects': { happen: ({ join }) => void join('Running'), survives: always },
  'a second agent connects and attests another machine': {
    happen: ({ join }) => join('ReceivingManifest').sendAttestation(machineToken('another certificate')),
    survives: always,
  },
  'tokens and reports come over HTTP': {
    happen: async ({ cvmId, token }) => {
      const reports = [
        { type: 'attestation', id: 'replayed', kind: 'eat', token: Buffer.from(token).toString('base64') },
        { type: 'heartbeat', fit: 'busy' },
        { type: 'heartbeat', fit: 'ready' },
      ];
      expect((await asCvm('POST', `/d1/cvms/${cvmId}/reports`, { reports })).status).toBe(403);
      for (let poll = 0; poll < 3; poll++) expect((await asCvm('GET', `/d1/cvms/${cvmId}/commands`)).status).toBe(403);
    },
    survives: always,
  },
  'the agent loses its connection': { happen: ({ genuine }) => genuine.loseConnection(), survives: ifAllowed },
  'the agent abandons its stream': {
    happen: ({ genuine }) => genuine.abandonStream(),
    survives: ifAllowed,
  },
  'the gateway ends': { happen: ({ endGateway }) => endGateway(), survives: ifAllowed },
  'the agent restarts': { happen: ({ genuine }) => genuine.restartAgent(), survives: (moment) => moment === 'before' },
  'the agent is replaced by one that never attests': {
    happen: ({ genuine, join, random }) => {
      genuine.end();
      join(random() < 0.5 ? 'Running' : 'ReceivingManifest');
    },
    survives: never,
  },
  'the agent is replaced by one that replays a token of another CVM': {
    happen: ({ genuine, join }) => {
      genuine.end();
      join('ReceivingManifest').sendAttestation(machineToken('another certificate'));
    },
    survives: never,
  },
  'the agent is replaced by a machine that the policy refuses': {
    happen: async ({ genuine, join, cvmId }) => {
      genuine.end();
      const { certificate } = (await world.call('GET', `/d1/cvms/${cvmId}`)).body;
      join('ReceivingManifest').sendAttestation(machineToken(String(certificate), (report) => report.fill(0xcd, 0x90, 0xc0)));
    },
    survives: never,
  },
  'the agent hangs, and another one connects': {
    happen: ({ genuine, join }) => {
      genuine.hang();
      join('ReceivingManifest');
    },
    survives: never,
  },
  'the certificate is exchanged': {
    happen: async ({ join, cvmId }) => {
      const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
      const certificate = await issueCvmCertificate(world.authority, { domain: 'd1', cvmId }, publicKey);
      const { status } = await world.call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate });
      expect([200, 409]).toContain(status);
      const key = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      join('ReceivingManifest', { certificate, key });
    },
    survives: (moment) => moment === 'after', // a run holds the CVM then
  },
};
const names = Object.keys(happenings);
const joins = names.filter((name) => /second|exchanged/.test(name));
const gaps = ['the agent loses its connection', 'the agent abandons its stream', 'the gateway ends', 'the agent restarts'];

/** Lives one history. @returns how its run ended: `refused` if it was not started */
async function live(seed: number, computationOf: (allowsReconnect: boolean) => Promise<string>): Promise<string> {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  const allow_reconnect = random() < 0.5;
  const some = (of: readonly string[], most: number) =>
    Array.from({ length: Math.floor(random() * most) }, () => ({ name: pick(of), moment: pick(moments) }));
  const happened = [...(random() < 0.8 ? [{ name: pick(joins), moment: pick(moments) }] : []), ...some(names, 4)];
  const what = `seed ${seed}, reconnects ${allow_reconnect}, ${JSON.stringify(happened)}`;
  const intrudes = happened.some(({ name }) => joins.includes(name));
  // Who connects while the agent does not takes its place.
  const isHonest =
    happened.every(({ name, moment }) => happenings[name]?.survives(moment, allow_reconnect)) &&
    !(intrudes && happened.some(({ name }) => gaps.includes(name)));

  const cvmId = `history-${seed}`;
  const near = happened.some(({ name }) => name === 'the gateway ends') ? await gatewayInProcess(world.authority) : undefined;
  let isNearOver = false;
  /** The happenings that closed the connection over which the run was given before the work was done. */
  const cuts: string[] = [];
  const cvm = await world.enrol(cvmId);
  const attested = new Set([cvm.certificate]);
  const others: { agent: SimulatedAgent; certificate: string }[] = [];
  const token = () => (history.token = machineToken(cvm.certificate));
  let isDone = false as boolean;
  const step = (agent: SimulatedAgent, state: string) => {
    isDone ||= state === 'ConsumingResults';
    setTimeout(() => (state === 'ReceivingAlgorithm' ? agent.upload() : state === 'Running' && agent.finish()), 150);
  };
  const history: History = {
    cvmId,
    token: new Uint8Array(),
    genuine: undefined as unknown as SimulatedAgent,
    join: (state, more = {}) => {
      const options = { attestsAtOnce: false, reconnectInMilliseconds: 60_000, hasForwarder: false, ...more };
      const agent = world.connect({ ...cvm, ...more }, options);
      agent.state = state;
      others.push({ agent, certificate: more.certificate ?? cvm.certificate });
      return agent;
    },
    endGateway: async () => {
      if (isNearOver) return;
      isNearOver = true;
      history.genuine.address = world.gateway.address;
      await near?.stop();
      history.genuine.loseConnection();
    },
    random,
  };
  const untilTaken = () =>
    untilAttested(world.call, cvmId, history.token).catch((error: unknown) => {
      throw new Error(`${what}, ${JSON.stringify(history.genuine.errors)}`, { cause: error });
    });
  const happen = async (moment: Moment) => {
    for (const { name } of happened.filter((each) => each.moment === moment)) {
      await delay(random() * 200);
      const isAtWork = () => moment !== 'before' && gaps.includes(name) && !isDone;
      const wasAtWork = isAtWork();
      await happenings[name]?.happen(history);
      if (wasAtWork && isAtWork()) cuts.push(name); // it works on while its gateway ends
      // An agent attests once. A token on a connection that breaks before it is taken is lost, and somebody must restart the agent again.
      if (isHonest && name === 'the agent restarts') await untilTaken();
    }
  };

  const { address } = near ? { address: `localhost:${near.port}` } : cvm;
  const forwarderAddress = random() < 0.5 ? world.gateway.address : address;
  history.genuine = world.connect({ ...cvm, address }, { token, onState: step, forwarderAddress });
  await untilAttested(world.call, cvmId);
  await world.untilReady(cvmId);
  const computation = await computationOf(allow_reconnect);
  await happen('before');
  if (isHonest) {
    await untilTaken();
    await world.untilReady(cvmId);
  }
  const start = async () => {
    const { status, body } = await world.call('POST', `/d1/computations/${computation}/run?cvm=${cvmId}`);
    const expected = isHonest ? [200] : [200, 409];
    expect(expected, `${what}: ${JSON.stringify(body)}`).toContain(status);
    return { status };
  };
  // A busy machine may hear nothing of an agent for a while. Then users start again.
  const started = await (isHonest ? vi.waitFor(start, untilTestEnds) : start());
  let outcome = 'refused';
  if (started.status === 200) {
    await happen('at delivery');
    for (let waited = 0; waited < 20 && history.genuine.state === 'ReceivingManifest'; waited++) await delay(50);
    await happen('after');
    const status = async () => String((await world.call('GET', `/d1/computations/${computation}/run`)).body['status']);
    if (isHonest) await expect.poll(status, { timeout: 60_000, message: what }).toBe('completed');
    for (let waited = 0; waited < 30 && (await status()) === 'running'; waited++) await delay(100);
    outcome = await status();
    if (outcome === 'running') await world.call('POST', `/d1/computations/${computation}/stop`);
    await expect.poll(status, { timeout: 60_000, message: what }).not.toMatch(/running|stopping/);
  }
  if (cuts.length > 0 && !allow_reconnect) expect(outcome, what).not.toBe('completed');
  const agents = [...others, { agent: history.genuine, certificate: cvm.certificate }];
  for (const { agent, certificate } of agents) {
    const wrong = allow_reconnect && attested.has(certificate) ? [] : agent.unattested;
    expect(wrong, what).toEqual([]);
    agent.end();
  }
  await history.endGateway();
  return `${isHonest ? 'honest' : 'other'} ${outcome}`;
}

const histories = amount({ sample: 4, full: Number(process.env['HISTORIES'] ?? 3_000) });
const atOnce = amount({ sample: 4, full: 8 });

describe('agents of a CVM that want to have a run with an attestation policy', () => {
  it(
    `get its manifest only over a connection that attested, or with a certificate that did if reconnects are allowed, in ${histories} histories`,
    { timeout: 7_200_000 },
    async () => {
      const outcomes: Record<string, number> = {};
      const failures: unknown[] = [];
      let next = 0;
      const worker = async () => {
        const free: Record<string, string> = {};
        while (next < histories) {
          const seed = sampleSeed * 10_000 + next++;
          const computationOf = async (allow_reconnect: boolean) =>
            (free[String(allow_reconnect)] ??= await computationWithPolicy(world.call, { allow_reconnect }));
          const outcome = await live(seed, computationOf).catch((error: unknown) => {
            process.stdout.write(`The history of seed ${seed} fails: ${String(error)}\n`);
            failures.push(error);
            return 'failure';
          });
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      process.stdout.write(`Outcomes: ${JSON.stringify(outcomes)}\n`);
      expect(failures).toEqual([]);
      expect(Object.keys(outcomes).filter((outcome) => /^honest (?!completed)/.test(outcome))).toEqual([]);
    },
  );
});
