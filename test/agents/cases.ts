import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { createAuthority, issueCvmCertificate, issueServerCertificate } from '../../gateway/certificates/authority.ts';
import { ok as ensure } from 'node:assert';
import type { AgentCvm } from './agent-cvm.ts';
import type { RehearsalWorld } from './rehearsal-world.ts';
import type { RehearsedParty } from './rehearsed-party.ts';
import type { RehearsedRun } from './rehearsed-run.ts';
import { ServiceWithOwnGateway } from './rehearsed-service.ts';

export interface RehearsalCase {
  name: string;
  /** True if the gateway is a process of its own, as on AWS. Default: false, it is a part of `npm start`. */
  hasOwnGateway?: boolean;
  /** @returns what was seen. @throws Error if it is not what must be */
  play: (world: RehearsalWorld) => Promise<string>;
}

/** The wait before a killed agent is started again, as long as that of systemd. */
const restartDelayInMilliseconds = 5_000;

const wholeRun = [
  'ReceivingAlgorithm/InProgress',
  'ReceivingData/InProgress',
  'Running/Starting',
  'Running/InProgress',
  'Running/Completed',
  'ConsumingResults/Ready',
];

/** The events of a computation that agents sent or that were made up for, as `type/status`, and those that were made up for. */
async function agentEvents(world: RehearsalWorld, { computationId }: RehearsedRun) {
  const events = await world.service.events(computationId);
  const named = events.filter(({ event_type }) => /^[A-Z]/.test(event_type));
  const isInferred = ({ details }: { details: string }) => Buffer.from(details, 'base64').toString().includes('"inferred":true');
  const nameOf = ({ event_type, status }: { event_type: string; status: string }) => `${event_type}/${status}`;
  return { all: named.map(nameOf), inferred: named.filter(isInferred).map(nameOf) };
}

export async function ensureOnce(world: RehearsalWorld, run: RehearsedRun, expected: string[]): Promise<string[]> {
  const { all, inferred } = await agentEvents(world, run);
  for (const name of expected) {
    const times = all.filter((each) => each === name).length;
    ensure(times === 1, `The journal has ${name} ${times} times: ${all.join(', ')}.`);
  }
  return inferred;
}

export async function ensureEnd(world: RehearsalWorld, run: RehearsedRun, status: string, seconds = 60): Promise<string> {
  const end = await world.service.untilOver(run.computationId, seconds);
  ensure(end.status === status, `The run ended as ${end.status}: ${end.reason}`);
  return `${end.status}: ${end.reason}`;
}

const complete = (inputs: Parameters<RehearsalWorld['computation']>[0]) => async (world: RehearsalWorld) => {
  const { id } = await world.cvm();
  const run = await world.computation(inputs);
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  await world.service.untilEvent(run.computationId, 'Complete/Completed');
  const inferred = await ensureOnce(world, run, [...wholeRun, 'Complete/Completed']);
  ensure(inferred.length === 0, `Events were made up for: ${inferred.join(', ')}`);
  return `${end} The result is ${run.expected}. Each event came once.`;
};

const sumAfter = (seconds: number) =>
  `#!/bin/sh\nsleep ${seconds}\ncat datasets/*.csv | awk '{ total += $1 } END { print total }' > results/sum.txt\n`;

/** Starts a run whose algorithm works for a while, and waits until it works. */
export async function atWork(
  world: RehearsalWorld,
  seconds: number,
  on?: { id: string; cvm: AgentCvm },
  inputs: Parameters<RehearsalWorld['computation']>[0] = {},
) {
  const { id, cvm } = on ?? (await world.cvm());
  const run = await world.computation({ algorithm: sumAfter(seconds), ...inputs });
  await run.start(id);
  await run.upload();
  await world.service.untilEvent(run.computationId, 'Running/InProgress');
  return { id, cvm, run };
}

/** Starts all programs of a CVM anew, and runs a computation on it. */
async function completeAfterRestart(world: RehearsalWorld, { id, cvm }: { id: string; cvm: AgentCvm }): Promise<void> {
  await cvm.restart();
  await world.service.untilFit(id);
  const run = await world.computation();
  await run.start(id);
  await run.upload();
  await ensureEnd(world, run, 'completed');
  await run.fetchResult();
}

async function ensureRefused(world: RehearsalWorld, cvmId: string): Promise<void> {
  const { computationId } = await world.computation();
  const { status, body } = await world.service.call('POST', `/d1/computations/${computationId}/run?cvm=${cvmId}`);
  const reason = String(body['reason']);
  ensure(status === 409 && reason === 'cvm_not_ready', `A run on a spent CVM was answered with ${status} ${reason}.`);
}

async function fourAtOnce(world: RehearsalWorld): Promise<string> {
  const cvms = [];
  for (const number of [1, 2, 3, 4]) cvms.push(await world.cvm(number));
  const ends = cvms.map(async ({ id }) => {
    const run = await world.computation({ algorithm: sumAfter(3) });
    await run.start(id);
    await run.upload();
    await ensureEnd(world, run, 'completed');
    await run.fetchResult();
    await ensureOnce(world, run, wholeRun);
  });
  await Promise.all(ends);
  return 'Four runs completed with their right results. Each event came once.';
}

async function stopWhileRunning(world: RehearsalWorld): Promise<string> {
  const { id, cvm, run } = await atWork(world, 300);
  await run.stop();
  const end = await ensureEnd(world, run, 'cancelled');
  await ensureOnce(world, run, ['Stopped/Stopped']);
  await ensureRefused(world, id);
  await completeAfterRestart(world, { id, cvm });
  return `${end} A further run was refused, and completed after a restart of the CVM.`;
}

async function stopEarly(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation();
  await run.start(id);
  await world.service.untilEvent(run.computationId, 'ReceivingAlgorithm/InProgress');
  await run.stop();
  const end = await ensureEnd(world, run, 'cancelled');
  await ensureOnce(world, run, ['Stopped/Stopped']);
  await ensureRefused(world, id);
  return `${end} A further run was refused.`;
}

async function failingAlgorithm(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation({ algorithm: '#!/bin/sh\necho "no such column" >&2\nexit 3\n' });
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'failed');
  ensure(end.includes('exit code 3'), `The reason does not name the exit code: ${end}`);
  await ensureOnce(world, run, ['Running/Failed', 'Failed/Failed']);
  await ensureRefused(world, id);
  const result = await run.fetchResult().then(() => '', String);
  ensure(result.includes('exit status 3'), `cms result said: ${result}`);
  return `${end} cms result says the same.`;
}

async function agentKilled(world: RehearsalWorld): Promise<string> {
  const { id, cvm, run } = await atWork(world, 300);
  await cvm.signal('agent', 'SIGKILL');
  await delay(restartDelayInMilliseconds);
  await cvm.startAgent();
  const end = await ensureEnd(world, run, 'failed');
  await completeAfterRestart(world, { id, cvm });
  return `${end} A further run completed after a restart of the CVM.`;
}

async function agentGone(world: RehearsalWorld): Promise<string> {
  const { cvm, run } = await atWork(world, 300);
  await cvm.signal('agent', 'SIGKILL');
  return await ensureEnd(world, run, 'failed', 100);
}

async function forwarderFrozen(world: RehearsalWorld): Promise<string> {
  const { cvm, run } = await atWork(world, 5);
  await cvm.signal('log-forwarder', 'SIGSTOP');
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const inferred = await ensureOnce(world, run, ['ConsumingResults/Ready']);
  ensure(inferred.includes('ConsumingResults/Ready'), 'The end was not made up for.');
  return `${end} Made up for: ${inferred.join(', ')}.`;
}

async function forwarderLate(world: RehearsalWorld): Promise<string> {
  const { cvm, run } = await atWork(world, 3);
  await cvm.signal('log-forwarder', 'SIGSTOP');
  const end = await ensureEnd(world, run, 'completed');
  await cvm.signal('log-forwarder', 'SIGCONT');
  await run.fetchResult();
  await world.service.untilEvent(run.computationId, 'Complete/Completed');
  const inferred = await ensureOnce(world, run, [...wholeRun, 'Complete/Completed']);
  return `${end} Its events came after its end, once. Made up for: ${inferred.join(', ')}.`;
}

async function twoMachines(world: RehearsalWorld): Promise<string> {
  const { run } = await atWork(world, 20);
  await world.copyOf(1);
  await world.service.untilEvent(run.computationId, 'IdentityConflict/Warning');
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} The journal names the second machine.`;
}

async function gatewayRestarted(world: RehearsalWorld): Promise<string> {
  const { service } = world;
  ensure(service instanceof ServiceWithOwnGateway, 'This case needs a gateway of its own.');
  const { id, cvm, run } = await atWork(world, 8);
  await service.killGateway();
  await service.startGateway();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const inferred = await ensureOnce(world, run, [...wholeRun.slice(0, 3), 'ConsumingResults/Ready']);
  await completeAfterRestart(world, { id, cvm });
  return `${end} Made up for: ${inferred.join(', ')}. A further run completed after a restart of the CVM.`;
}

async function gatewayDown(world: RehearsalWorld): Promise<string> {
  const { service } = world;
  ensure(service instanceof ServiceWithOwnGateway, 'This case needs a gateway of its own.');
  const { run } = await atWork(world, 3);
  await service.killGateway();
  await delay(10_000); // the algorithm ends meanwhile
  await service.startGateway();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const inferred = await ensureOnce(world, run, ['ConsumingResults/Ready']);
  return `${end} Made up for: ${inferred.join(', ')}.`;
}

async function spentAndGatewayRestarted(world: RehearsalWorld): Promise<string> {
  const { service } = world;
  ensure(service instanceof ServiceWithOwnGateway, 'This case needs a gateway of its own.');
  const { id, cvm, run } = await atWork(world, 300);
  await run.stop();
  const end = await ensureEnd(world, run, 'cancelled');
  await service.killGateway();
  await service.startGateway();
  await delay(15_000); // the agent comes back after 5 seconds, and the gateway asks it for its state
  await service.untilPresence(id, { state: 'connected', fit: 'spent' });
  await ensureRefused(world, id);
  await completeAfterRestart(world, { id, cvm });
  return `${end} A further run was refused, and completed after a restart of the CVM.`;
}

async function serviceRestarted(world: RehearsalWorld): Promise<string> {
  const { id, cvm, run } = await atWork(world, 8);
  await world.service.end('SIGKILL');
  await world.service.start();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const inferred = await ensureOnce(world, run, [...wholeRun.slice(0, 3), 'ConsumingResults/Ready']);
  await completeAfterRestart(world, { id, cvm });
  return `${end} Made up for: ${inferred.join(', ')}. A further run completed after a restart of the CVM.`;
}

async function stoppedWhileDown(world: RehearsalWorld): Promise<string> {
  const { id, run } = await atWork(world, 300);
  await run.stop();
  await world.service.end('SIGKILL');
  await world.service.start();
  const end = await ensureEnd(world, run, 'cancelled', 100);
  await ensureRefused(world, id);
  return `${end} A further run was refused.`;
}

async function silentForAMoment(world: RehearsalWorld): Promise<string> {
  const { cvm, run } = await atWork(world, 20);
  await cvm.network('down');
  await delay(10_000);
  await cvm.network('up');
  const end = await ensureEnd(world, run, 'completed', 90);
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} Each event came once.`;
}

/** Lets the path of a CVM at work be silent until its run has failed and the CVM is disconnected. */
async function silentUntilFailed(world: RehearsalWorld, { id, cvm, run }: Awaited<ReturnType<typeof atWork>>): Promise<string> {
  await cvm.network('down');
  const end = await ensureEnd(world, run, 'failed', 100);
  await world.service.untilPresence(id, { state: 'disconnected' }, 120);
  await ensureRefused(world, id);
  await cvm.network('up');
  return end;
}

async function silentForLong(world: RehearsalWorld): Promise<string> {
  const working = await atWork(world, 300);
  const end = await silentUntilFailed(world, working);
  await completeAfterRestart(world, working);
  return `${end} A further run was refused, and completed after a restart of the CVM.`;
}

async function silentWithKeepalive(world: RehearsalWorld): Promise<string> {
  const { id, cvm } = await world.cvm();
  await cvm.shortenKeepalive();
  await cvm.restart();
  await world.service.untilFit(id);
  const working = await atWork(world, 300, { id, cvm });
  const end = await silentUntilFailed(world, working);
  await world.service.untilPresence(id, { state: 'connected', fit: 'spent' }, 120);
  await completeAfterRestart(world, working);
  return `${end} The CVM came back by itself, as spent. A further run completed after a restart of the CVM.`;
}

const pythonSum = `import glob, sys
_, pattern, flag, empty, title = sys.argv
total = sum(float(line) for name in glob.glob(pattern) for line in open(name))
open('results/sum.txt', 'w').write(str(round(total)) if (flag, empty, title) == ('--title', '', ' Größe, "all" of it: 1 € ') else repr(sys.argv))
`;
const pythonArguments = ['--arg', 'datasets/*.csv', '--arg=--title', '--arg', '', '--arg', ' Größe, "all" of it: 1 € '];

async function pythonProgram(world: RehearsalWorld): Promise<string> {
  const packages = world.folder('packages');
  await promisify(execFile)('python3', ['-m', 'pip', 'download', '-q', '-d', packages, 'pip', 'setuptools', 'wheel']);
  const { id } = await world.cvm(1, { PIP_NO_INDEX: '1', PIP_FIND_LINKS: packages });
  const run = await world.computation({ algorithm: pythonSum, sentAs: ['--type', 'python', ...pythonArguments] });
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'completed', 300);
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} The result is ${run.expected}.`;
}

async function pythonWithoutPackages(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation({ algorithm: pythonSum, sentAs: ['--type', 'python'] });
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'failed', 300);
  ensure(end === 'failed: The CVM failed.', `The reason says what a log said while the algorithm could write it: ${end}`);
  return end;
}

async function wasmWithoutRuntime(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm(1, { PATH: '/usr/bin:/bin' });
  const run = await world.computation({ sentAs: ['--type', 'wasm'] });
  await run.start(id);
  await run.upload();
  return await ensureEnd(world, run, 'failed');
}

async function dockerWithoutDaemon(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm(1, { DOCKER_HOST: 'unix:///run/no-docker.sock' });
  const run = await world.computation({ sentAs: ['--type', 'docker'] });
  await run.start(id);
  await run.upload();
  return await ensureEnd(world, run, 'failed');
}

async function attestedTls(world: RehearsalWorld): Promise<string> {
  const { id, cvm } = await world.cvm();
  const run = await world.computation({ agentConfig: { attested_tls: true } });
  await run.start(id);
  const refusal = await refusalOf(run);
  ensure(refusal.includes('cms does not speak'), `cms said: ${refusal}`);
  await run.stop();
  const end = await ensureEnd(world, run, 'cancelled');
  await completeAfterRestart(world, { id, cvm });
  return `cms refused to send. ${end} A further run without attested TLS completed after a restart of the CVM.`;
}

async function threeAtOnce(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation({ datasets: 4 });
  await run.start(id);
  const datasets = [run.send('numbers-1.csv', 'numbers-2.csv'), run.send('numbers-3.csv', 'numbers-4.csv')];
  await Promise.all([...datasets, run.send('sum.sh')]);
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} The result is ${run.expected}. Each event came once.`;
}

/** The certificate of an agent and its key, as files that the CVM sees, with the options that name it. */
async function agentIdentity(world: RehearsalWorld) {
  const authority = await createAuthority('agents');
  const { certificate, key } = await issueServerCertificate(authority, ['localhost']);
  const [cert_file, server_key] = [join(world.folder('agent'), 'agent.pem'), join(world.folder('agent'), 'agent-key.pem')];
  writeFileSync(cert_file, certificate);
  writeFileSync(server_key, key);
  return { authority, certificate, key, cert_file, server_key };
}

async function overTls(world: RehearsalWorld): Promise<string> {
  const { certificate, cert_file, server_key } = await agentIdentity(world);
  const agent = ['--agent-fingerprint', new X509Certificate(certificate).fingerprint256];
  return await complete({ agentConfig: { cert_file, server_key }, agent })(world);
}

async function overMutualTls(world: RehearsalWorld): Promise<string> {
  const { authority, certificate, key, cert_file } = await agentIdentity(world);
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = own.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const files = { certificate: join(world.folder('client'), 'client.pem'), key: join(world.folder('client'), 'key.pem') };
  writeFileSync(files.certificate, await issueCvmCertificate(authority, { domain: 'd1', cvmId: 'alice' }, publicKey));
  writeFileSync(files.key, own.privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const asClient = ['--client-certificate', files.certificate, '--client-key', files.key];
  const agentConfig = { cert_file: certificate, server_key: key, client_ca_file: authority.certificate };
  return await complete({ agentConfig, agent: ['--agent-certificate', cert_file, ...asClient] })(world);
}

/** The service names the address of somebody with a certificate of their own. */
async function anotherAddress(world: RehearsalWorld): Promise<string> {
  const { id, cvm } = await world.cvm();
  const { authority, cert_file, server_key } = await agentIdentity(world);
  const other = await issueServerCertificate(authority, ['localhost']);
  let [connections, bytes] = [0, 0];
  const server = createServer({ cert: other.certificate, key: other.key, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('data', ({ length }: Buffer) => (bytes += length)).on('error', () => undefined);
  });
  server.on('connection', () => (connections += 1)).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const name = async (agent_url: string) => await world.service.ask('PUT', `/d1/cvms/${id}`, { description: '', agent_url });
  await name(`localhost:${port}`);
  const run = await world.computation({ agentConfig: { cert_file, server_key }, agent: ['--agent-certificate', cert_file] });
  await run.start(id);
  const refusal = await refusalOf(run);
  server.close();
  ensure(refusal.includes('not the one that you gave. Nothing was sent.'), `cms said: ${refusal}`);
  ensure(connections > 0 && bytes === 0, `${bytes} bytes were sent in ${connections} connections.`);
  await name(cvm.address);
  await run.upload();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  return `cms sent 0 bytes there. At the right address: ${end}`;
}

export async function refusalOf(run: RehearsedRun): Promise<string> {
  return await run.upload().then(
    () => '',
    (error: unknown) => String(error),
  );
}

async function otherConfiguration(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation({ agent: ['--unbound', '--approved', '0'.repeat(64)] });
  await run.start(id);
  const refusal = await refusalOf(run);
  ensure(refusal.includes('which --approved does not name'), `cms said: ${refusal}`);
  await run.stop();
  return await ensureEnd(world, run, 'cancelled');
}

async function policyWithoutTee(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation();
  const attestation_policy = { platforms: ['snp', 'tdx'], measurements: ['ab'.repeat(48)] };
  const path = `/d1/computations/${run.computationId}`;
  await world.service.ask('PUT', path, { name: 'Sum', attestation_policy });
  const { status, body } = await world.service.call('POST', `${path}/run?cvm=${id}`);
  ensure(
    status === 409 && body['reason'] === 'cvm_not_attested',
    `The start was answered with ${status} ${String(body['reason'])}.`,
  );
  await world.service.ask('PUT', path, { name: 'Sum', attestation_policy: null });
  await run.start(id);
  const { code, said } = await run.attest();
  ensure(code === 12 && said.includes('The agent gives no evidence'), `cms attest ended with ${code}: ${said}`);
  await run.upload();
  return `Refused: ${String(body['detail'])} ${await ensureEnd(world, run, 'completed')}`;
}

/** Two providers and the owner of a computation, each with a key and an approval of their own, send at once. */
async function twoProviders(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation({ datasets: 0, expected: '2003' });
  const providers = [await world.party('bob', 'dataset_provider'), await world.party('carol', 'dataset_provider')];
  const files: string[] = [];
  for (const [index, party] of providers.entries()) {
    const file = join(party.directory, `of-${index + 1}.csv`);
    writeFileSync(file, `${index + 1}\n1000\n`);
    files.push(file);
    const { computationId } = run;
    await party.cms('asset', 'upload', file, '--type', 'dataset', '--use', 'approval', '--computation', computationId);
    await party.cms('key', 'upload', party.publicKey, computationId);
  }
  for (const party of providers) await party.cms('approve', run.computationId, '--yes');
  await run.start(id);
  const send = (party: RehearsedParty | undefined, file = '') => {
    ensure(party !== undefined, 'A provider is missing.');
    return party.cms('send', file, '--computation', run.computationId, ...party.key, '--unbound');
  };
  const refusal = await send(providers[0], files[1]).then(() => '', String);
  ensure(refusal.includes('another key for it than the one of --key'), `cms said: ${refusal}`);
  await Promise.all([send(providers[0], files[0]), send(providers[1], files[1]), run.send('sum.sh')]);
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} The result is ${run.expected}. cms sends no file of another party.`;
}

async function watchAndSend(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation();
  await run.alice.cms('approve', run.computationId, '--yes');
  const files = ['numbers-1.csv', 'sum.sh'].flatMap((name) => ['--send', join(run.directory, name)]);
  const words = ['run', run.computationId, '--cvm', id, '--watch', ...files, ...run.alice.key, ...run.agent];
  const { stdout } = await run.alice.cms(...words);
  ensure(stdout.includes('The run has completed'), `cms said: ${stdout}`);
  await run.fetchResult();
  return `One command started the run, sent both files and watched to the end. The result is ${run.expected}.`;
}

/** The owner changes the computation after a party has approved it, and starts a run. */
async function otherManifest(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const run = await world.computation();
  await run.alice.cms('approve', run.computationId, '--yes');
  const asset = { file_name: 'more.csv', asset_type: 'dataset', asset: Buffer.from('5\n').toString('base64') };
  const { id: added } = await world.service.ask('POST', '/d1/assets', { asset });
  await world.service.ask('POST', `/d1/assets/${String(added)}/${run.computationId}`);
  await run.startUnapproved(id);
  const refusal = await refusalOf(run);
  ensure(refusal.includes('that you did not approve with cms approve. Nothing was sent.'), `cms said: ${refusal}`);
  await run.stop();
  return await ensureEnd(world, run, 'cancelled');
}

/** The content of a file, or what its server answers. */
type Served = string | Buffer | ((response: ServerResponse) => unknown);

/** Serves files by their paths to the agents of CVMs that get the environment. */
export async function serveFiles(world: RehearsalWorld, files: Record<string, Served>) {
  const { authority, certificate, key } = await agentIdentity(world);
  const asked: string[] = [];
  const server = createHttpsServer({ cert: certificate, key }, ({ url = '' }, response) => {
    asked.push(url);
    const served = files[url];
    if (typeof served === 'function') served(response);
    else response.writeHead(served === undefined ? 404 : 200).end(served);
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const SSL_CERT_FILE = join(world.folder('agent'), 'ca.pem');
  writeFileSync(SSL_CERT_FILE, authority.certificate);
  return { port, asked, environment: { SSL_CERT_FILE }, close: () => (server.close(), server.closeAllConnections()) };
}

/** The agent fetches both files from a server of this machine. @param numbers how the server answers for the dataset. Default: with it */
async function pulled(world: RehearsalWorld, numbers?: Served, failsWith?: RegExp): Promise<string> {
  const files = { '/sum.sh': sumAfter(0), '/numbers.csv': '1\n1000\n' };
  const server = await serveFiles(world, {
    ...files,
    '/numbers.csv': numbers ?? files['/numbers.csv'],
    [moved]: files['/numbers.csv'],
  });
  const { id } = await world.cvm(1, server.environment, { alsoReaches: [server.port] });
  const run = await world.computation({ datasets: 0, expected: '1001', isPulled: true });
  for (const [path, type] of [
    ['/sum.sh', 'algorithm'],
    ['/numbers.csv', 'dataset'],
  ] as const) {
    const checksum = createHash('sha3-256').update(files[path]).digest('hex');
    const url = `https://localhost:${server.port}${path}`;
    await run.alice.cms('asset', 'add', url, '--checksum', checksum, '--type', type, '--computation', run.computationId);
  }
  await run.start(id);
  if (numbers === hangs) {
    await world.service.untilEvent(run.computationId, 'ReceivingData/InProgress');
    await run.alice.cms('stop', run.computationId);
    const end = await ensureEnd(world, run, 'cancelled');
    server.close();
    return `${end} It was stopped in mid-download.`;
  }
  const end = await ensureEnd(world, run, failsWith ? 'failed' : 'completed');
  server.close();
  if (failsWith) {
    ensure(failsWith.test(end), `It does not say why: ${end}`);
    return end;
  }
  const expected = ['/numbers.csv', ...(numbers === redirects ? [moved] : []), '/sum.sh'].sort().join();
  ensure(server.asked.sort().join() === expected, `The agent asked for ${server.asked.join()}.`);
  await run.fetchResult();
  await ensureOnce(world, run, wholeRun);
  return `${end} The result is ${run.expected}. The agent fetched each file once.`;
}

const moved = `/moved.csv?signature=${'a1'.repeat(450)}`;
const redirects = (response: ServerResponse) => response.writeHead(302, { location: moved }).end();
const hangs = (response: ServerResponse) => response.writeHead(200, { 'content-length': '8' }).write('1\n');
const denies = (response: ServerResponse) => response.writeHead(401).end();
const namesHashes = /fetched numbers\.csv with the hash [0-9a-f]{64}, but [0-9a-f]{64} was/;

async function oneGibibyte(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const { certificate, cert_file, server_key } = await agentIdentity(world);
  const agent = ['--agent-fingerprint', new X509Certificate(certificate).fingerprint256];
  const run = await world.computation({ large: 1024, agentConfig: { cert_file, server_key }, agent });
  await run.start(id);
  const startedAt = performance.now();
  const { code, printed, memoryInMiB } = await run.alice.cmsInTerminal(run.sending('sum.sh', 'large.bin'));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  ensure(code === 0, `cms ended with ${code}: ${printed}`);
  const shown = new Set([...printed.matchAll(/large\.bin \S+ (\d+)%/g)].map(([, percent]) => percent));
  ensure(shown.size >= 5, `The progress shows ${shown.size} percentages.`);
  ensure(memoryInMiB < 200, `cms took ${memoryInMiB} MiB.`);
  const end = await ensureEnd(world, run, 'completed', 120);
  await run.fetchResult();
  return `${end} Sent in ${seconds} s, with at most ${memoryInMiB} MiB and ${shown.size} percentages shown. The hash is right.`;
}

/** Sends a large dataset, and does something to the agent in the middle. */
async function interrupting(world: RehearsalWorld, interrupt: (cvm: AgentCvm) => Promise<void>) {
  const { id, cvm } = await world.cvm();
  const run = await world.computation({ large: 512 });
  await run.start(id);
  await run.send('sum.sh');
  let interruption: Promise<void> | undefined;
  const sent = await run.alice.cmsInTerminal(run.sending('large.bin'), (text) => {
    if (/large\.bin \S+ [2-9]\d%/.test(text)) interruption ??= interrupt(cvm);
  });
  ensure(interruption !== undefined, 'Nothing was interrupted.');
  await interruption;
  return { id, cvm, run, sent };
}

async function cutWhileSending(world: RehearsalWorld): Promise<string> {
  const { run, sent } = await interrupting(world, async (cvm) => cvm.cutUsers());
  ensure(sent.code === 0 && sent.printed.includes('The connection was cut'), `cms ended with ${sent.code}: ${sent.printed}`);
  const end = await ensureEnd(world, run, 'completed', 120);
  await run.fetchResult();
  return `${end} cms sent the dataset again. The hash is right.`;
}

async function restartWhileSending(world: RehearsalWorld): Promise<string> {
  const { run, sent, ...machine } = await interrupting(world, async (cvm) => {
    await cvm.signal('agent', 'SIGKILL');
    await delay(restartDelayInMilliseconds);
    await cvm.startAgent();
  });
  const said = sent.printed.slice(sent.printed.indexOf('The connection was cut'));
  const isExplained = said.includes('takes no file: The agent restarted while the run was active.');
  ensure(sent.code === 6 && isExplained, `cms ended with ${sent.code}: ${said}`);
  const end = await ensureEnd(world, run, 'failed');
  await completeAfterRestart(world, machine);
  return `cms said so. ${end} A further run completed after a restart of the CVM.`;
}

/** Runs an algorithm with as many bytes of arguments as `cms` takes, all of which must arrive. */
async function longArguments(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm();
  const long = [
    '--arg',
    'x'.repeat(24_000),
    '--arg',
    'ü'.repeat(12_000),
    ...Array.from({ length: 50 }, () => ['--arg', 'y']).flat(),
  ];
  const algorithm = '#!/bin/sh\necho "$# ${#1}" > results/sum.txt\n';
  const run = await world.computation({ algorithm, sentAs: long, expected: '52 24000' });
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  return `${end} The result is ${run.expected}.`;
}

export const cases: RehearsalCase[] = [
  { name: 'complete', play: complete({}) },
  { name: 'rsa-key', play: complete({ keys: 'rsa' }) },
  { name: 'ec-key', play: complete({ keys: 'ec' }) },
  { name: 'tls', play: overTls },
  { name: 'mutual-tls', play: overMutualTls },
  { name: 'three-senders', play: threeAtOnce },
  { name: 'another-address', play: anotherAddress },
  { name: 'another-configuration', play: otherConfiguration },
  { name: 'another-manifest', play: otherManifest },
  { name: 'policy', play: policyWithoutTee },
  { name: 'two-providers', play: twoProviders },
  { name: 'watch-and-send', play: watchAndSend },
  { name: 'pulled', play: (world) => pulled(world) },
  { name: 'pulled-changed', play: (world) => pulled(world, '2\n1000\n', namesHashes) },
  { name: 'pulled-redirected', play: (world) => pulled(world, redirects) },
  { name: 'pulled-denied', play: (world) => pulled(world, denies, /numbers\.csv.*401/) },
  { name: 'pulled-hanging', play: (world) => pulled(world, hangs) },
  { name: 'long-arguments', play: longArguments },
  { name: 'one-gibibyte', play: oneGibibyte },
  { name: 'cut-while-sending', play: cutWhileSending },
  { name: 'restart-while-sending', play: restartWhileSending },
  { name: '40-datasets', play: complete({ datasets: 40 }) },
  { name: 'four-cvms', play: fourAtOnce },
  { name: 'stop-running', play: stopWhileRunning },
  { name: 'stop-early', play: stopEarly },
  { name: 'failing', play: failingAlgorithm },
  { name: 'agent-killed', play: agentKilled },
  { name: 'agent-gone', play: agentGone },
  { name: 'forwarder-frozen', play: forwarderFrozen },
  { name: 'forwarder-late', play: forwarderLate },
  { name: 'twice', play: twoMachines },
  { name: 'silent-path', play: silentForAMoment },
  { name: 'silent-for-long', play: silentForLong },
  { name: 'silent-with-keepalive', play: silentWithKeepalive },
  { name: 'python', play: pythonProgram },
  { name: 'python-offline', play: pythonWithoutPackages },
  { name: 'wasm-missing', play: wasmWithoutRuntime },
  { name: 'docker-missing', play: dockerWithoutDaemon },
  { name: 'attested-tls', play: attestedTls },
  { name: 'restart-service', play: serviceRestarted },
  { name: 'stop-and-restart-service', play: stoppedWhileDown },
  { name: 'restart-gateway', hasOwnGateway: true, play: gatewayRestarted },
  { name: 'gateway-down', hasOwnGateway: true, play: gatewayDown },
  { name: 'spent-and-restart-gateway', hasOwnGateway: true, play: spentAndGatewayRestarted },
];
