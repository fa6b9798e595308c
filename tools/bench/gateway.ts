import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundleGateway } from '../../infra/bundles/bundle-gateway.ts';
import { gatewayFiles, taskSettings } from '../../infra/gateway/gateway-task.ts';
import { createAuthority, issueCvmCertificate, issueServerCertificate } from '../../gateway/certificates/authority.ts';
import { freePort } from '../../local/machine/listen.ts';
import { startStack } from '../../local/stack.ts';
import { callAs, readyComputation } from '../../test/support/ready-computation.ts';
import { SimulatedAgent } from '../../test/support/simulated-agent.ts';

/**
 * Measures one gateway process with many simulated CVMs of two streams each: its memory, its CPU while all are idle, the time from
 * the start of a run until the agent has it, and the time until all are back after the gateway was killed. Then all runs have to
 * complete. Each CVM takes two open files here and two in the gateway.
 */
const { values } = parseArgs({
  options: { cvms: { type: 'string', default: '4000' }, runs: { type: 'string', default: '200' } },
});
const cvms = Number(values.cvms);
const runs = Math.min(Number(values.runs), cvms);
const idleInSeconds = 50; // twice the time between two questions for the state of an idle agent

const stack = await startStack({ port: 0, simulator: false });
const call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']));
const authority = await createAuthority('bench');
const server = await issueServerCertificate(authority, ['localhost']);
const port = await freePort();

const folder = await mkdtemp(join(tmpdir(), 'bench-gateway-'));
await bundleGateway(folder);
const variables = {
  LOG_LEVEL: 'INFO',
  GATEWAY_PORT: String(port),
  GATEWAY_HEALTH_PORT: String(await freePort()),
  GATEWAY_TLS: JSON.stringify({ ca: authority.certificate, ...server }),
};
let gateway = await startGateway();
print('memory without CVMs', `${Math.round(mebibytes('VmRSS'))} MiB`);
const agents: SimulatedAgent[] = [];
const tookRun = new Map<string, number>();
await each(cvms, async (index) => {
  const cvmId = `bench-${index}`;
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const key = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const certificate = await issueCvmCertificate(authority, { domain: 'd1', cvmId }, publicKey);
  await register(cvmId, certificate);
  const onState = (_: SimulatedAgent, state: string) => {
    if (state === 'ReceivingAlgorithm') tookRun.set(cvmId, performance.now());
  };
  agents[index] = new SimulatedAgent({
    address: `localhost:${port}`,
    ca: authority.certificate,
    certificate,
    key,
    cvmId,
    onState,
  });
});
await untilFit();
printMemory('memory with all connected');

const before = cpuInSeconds();
await delay(idleInSeconds * 1_000);
print('CPU with all idle', `${Math.round(((cpuInSeconds() - before) / idleInSeconds) * 1000) / 10} % of a core`);
printMemory('memory with all idle');

const latencies: number[] = [];
const computations: string[] = [];
await each(runs, async (index) => {
  const computation = await readyComputation(call);
  const { status, body } = await call('POST', `/d1/computations/${computation}/run?cvm=bench-${index}`);
  if (status !== 200) throw new Error(`A run was answered with ${status}: ${JSON.stringify(body)}`);
  const started = performance.now();
  computations[index] = computation;
  while (!tookRun.has(`bench-${index}`)) await delay(10);
  latencies.push((tookRun.get(`bench-${index}`) ?? started) - started);
});
latencies.sort((a, b) => a - b);
print('start of a run until the agent has it, p95', `${Math.round(latencies[Math.floor(latencies.length * 0.95)] ?? 0)} ms`);
printMemory(`memory with ${runs} at work`);

const killed = performance.now();
gateway.kill('SIGKILL');
gateway = await startGateway();
await untilFit();
print('all back after a kill', `${Math.round((performance.now() - killed) / 100) / 10} s`);
print('CPU of the gateway until then', `${Math.round(cpuInSeconds() * 10) / 10} s, with its start`);
for (let index = 0; index < runs; index++) {
  agents[index]?.upload();
  agents[index]?.finish();
}
await each(runs, async (index) => {
  while (!(await hasCompleted(computations[index] ?? ''))) await delay(200);
});
print('runs that completed after it', `${runs} of ${runs}`);
printMemory('memory at the end');
for (const agent of agents) agent.end();
gateway.kill('SIGKILL');
await rm(folder, { recursive: true });
await stack.stop();
process.exit(0);

function print(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(46)} ${figure}\n`);
}

function printMemory(when: string): void {
  print(when, `${Math.round(mebibytes('VmRSS'))} MiB, ${Math.round(mebibytes('VmHWM'))} MiB at most`);
}

/** The memory of the gateway's process that is in RAM, in MiB: now (`VmRSS`), or at most since its start (`VmHWM`). */
function mebibytes(name: string): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

/** The time that the gateway's process has spent on a processor. */
function cpuInSeconds(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Starts a gateway as its tasks on AWS run it: the bundle, in a process of its own, with the settings of the task definition. */
async function startGateway(): Promise<ChildProcess> {
  const started = spawn(process.execPath, [join(folder, gatewayFiles[0])], {
    env: { ...process.env, ...taskSettings, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    started.stdout.on('data', (chunk) => {
      if (String(chunk).includes('The gateway listens')) resolve();
    });
    started.once('exit', (code) => reject(new Error(`The gateway ended with ${code} before it listened.`)));
  });
  return started;
}

/** Registers a CVM with a certificate. Repeats a registration for which a busy machine did not find the time. */
async function register(cvmId: string, certificate: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { status } = await call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate });
    if (status === 200 || status === 201) return;
    if (status !== 503 || attempt === 5) throw new Error(`The registration of ${cvmId} was answered with ${status}.`);
    await delay(1_000);
  }
}

/** Does a piece of work for each index from 0 on, eight at a time. @param count the number of indices */
async function each(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** Says whether the run of a computation has completed. @throws Error if the run ended otherwise */
async function hasCompleted(computation: string): Promise<boolean> {
  const { status, body } = await call('GET', `/d1/computations/${computation}/run`);
  if (status !== 200 || body['status'] === 'running') return false;
  if (body['status'] !== 'completed') throw new Error(`A run ended with ${JSON.stringify(body)}`);
  return true;
}

/** Waits until each simulated agent has answered a question for its state on its present stream. */
async function untilFit(): Promise<void> {
  for (const agent of agents) agent.questions = 0;
  while (agents.some((agent) => agent.questions === 0)) await delay(50);
}
