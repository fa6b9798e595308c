import { createHash, randomBytes } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { localFunctions } from '../../local/functions/local-functions.ts';
import { tokenVerifier } from '../../shared/attestation/index.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import { readAgentRecord } from '../../shared/attestation/agent-record.ts';
import { tokenKey } from '../../shared/rows/agent-tokens.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { coseOf, forgeSnp, messageOf } from '../packages/attestation/forge-snp.ts';
import { attestingCvms } from '../support/attesting-cvm.ts';
import { newCvmBody } from '../support/cvm-certificate.ts';
import { aReadyComputation, digestsOf, startStores } from '../support/builders-store.ts';
import { type EndpointRequest, httpEvent } from '../support/http-event.ts';
import { setTestEnvironment } from '../support/test-environment.ts';
import { aCvm, fillWorld, taskToken } from './bench-world.ts';

/**
 * Prints how many files of the service run for each of five requests, and when a CVM attests. A file runs if V8 saw one of its
 * functions run during the request, not at import. `--list` also prints the names of the files.
 */
const root = join(import.meta.dirname, '../..');
const service = /^(functions|shared|packages)\//;

const stores = await startStores({ bySdk: true });
setTestEnvironment(stores.endpoints);
replaceClient(tokenVerifier, withTestRoots(forgeSnp().options.roots ?? []).verifyToken);
const invoke = localFunctions({});
const world = await fillWorld(stores);
const { domain } = world;
const gateway = attestingCvms(domain);
const coverage = new Session();
coverage.connect();
await coverage.post('Profiler.enable');
await coverage.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

async function call(method: string, name: RouteName, request: EndpointRequest): Promise<unknown> {
  const { statusCode, body } = (await invoke(name, httpEvent(method, domain, request))) as { statusCode: number; body: string };
  if (statusCode >= 300) throw new Error(`${name}: ${body}`);
  return JSON.parse(body);
}

interface ReadyRun {
  id: string;
  cvmID: string;
  /** The certificate of a CVM that the gateway serves. */
  certificate?: string;
}

const readyForRun = async (): Promise<ReadyRun> => ({ id: (await aReadyComputation(stores, domain)).id, cvmID: aCvm() });

/** Registers a CVM, and gives a computation an attestation policy that the evidence of the CVM will satisfy. */
async function readyToAttest(): Promise<ReadyRun> {
  const { id, cvmID } = await readyForRun();
  const body = await newCvmBody();
  await call('PUT', 'cvms/register-cvm', { path: { cvmID }, body });
  await gateway.connect(cvmID);
  const attestation_policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };
  await call('PUT', 'computations/update-computation', { path: { id }, body: { name: 'Iris', attestation_policy } });
  return { id, cvmID, certificate: body.certificate };
}

const report = ({ cvmID, certificate }: ReadyRun, reported: object) =>
  certificate === undefined
    ? call('POST', 'cvms/report', { path: { cvmID }, body: { reports: [reported] } })
    : gateway.report(cvmID, reported);
const commandsOf = async ({ cvmID, certificate }: ReadyRun) =>
  certificate === undefined
    ? ((await call('GET', 'cvms/list-commands', { path: { cvmID } })) as { commands: { id: string }[] })
    : await gateway.service.work({ domain, cvmId: cvmID });

/** Carries a run to its completion: starts it, does each step of the state machine, and sends the reports of its CVM. */
async function runToCompleted(ready: ReadyRun): Promise<void> {
  const { id, cvmID } = ready;
  const run_id = String(await call('POST', 'runs/start-run', { path: { id }, query: { cvm: cvmID } }));
  const run = { domain, computation_id: id, run_id, cvm_id: cvmID };
  await invoke('lifecycle/offer-run', { run, task_token: taskToken });
  const { commands } = await commandsOf(ready);
  await report(ready, { run_id, id: 'a', type: 'accepted', command_id: commands[0]?.id });
  await invoke('lifecycle/await-cvm', { run, task_token: taskToken });
  await report(ready, { run_id, id: 'b', type: 'event', event_type: 'Complete', status: 'Completed' });
  await invoke('lifecycle/record-outcome', run);
  const { status } = (await call('GET', 'runs/get-run', { path: { id } })) as { status: string };
  if (status !== 'completed') throw new Error(`The run is ${status}.`);
}

/** Reports evidence of a CVM, as its agent does when it starts, and verifies the evidence. */
async function attest({ cvmID, certificate = '' }: ReadyRun): Promise<void> {
  const report = (bytes: Buffer) => {
    createHash('sha512').update(certificate).digest().copy(bytes, 0x50);
    randomBytes(32).copy(bytes, 0x140);
  };
  const machine = forgeSnp({ report });
  const token = Buffer.from(coseOf({ platform_type: 'SNP', raw_report: messageOf(machine.report, machine.certificates) }));
  await gateway.send(cvmID, token.toString('base64'));
  const cvm = { domain, cvmId: cvmID };
  const { process = '' } = await readAgentRecord(stores.table, cvm);
  const hash = createHash('sha256').update(token).digest('hex');
  await invoke('attestation/verify-token', { key: tokenKey({ ...cvm, process }, hash) });
}

/**
 * Does a piece of work once to import its files, and again to find the files whose functions run. @returns the paths of the files
 * of the service that run, sorted
 */
async function filesThatRun<T>(prepare: () => Promise<T>, work: (prepared: T) => Promise<unknown>): Promise<string[]> {
  await work(await prepare());
  const prepared = await prepare();
  await coverage.post('Profiler.takePreciseCoverage'); // sets the counts back
  await work(prepared);
  const { result } = await coverage.post('Profiler.takePreciseCoverage');
  return result
    .filter(
      ({ url, functions }) => url.startsWith('file:') && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    )
    .map(({ url }) => relative(root, fileURLToPath(url)))
    .filter((file) => service.test(file))
    .sort();
}

const nothing = () => Promise.resolve();
const create = () => call('POST', 'computations/create-computation', { body: { name: 'Iris' } });
const filteredPage = () => call('GET', 'computations/list-computations', { query: { status: 'created', limit: '2' } });
const approve = (request: EndpointRequest) => call('POST', 'approvals/approve', request);
const readyForAttestedRun = async () => {
  const ready = await readyToAttest();
  await attest(ready);
  return ready;
};
const readyForApproval = async () => {
  const { id } = await aReadyComputation(stores, domain);
  return { path: { id }, body: await digestsOf(stores, domain, id) };
};
const figures = [
  { request: 'create', goal: 40, files: await filesThatRun(nothing, create) },
  { request: 'filtered page', goal: 27, files: await filesThatRun(nothing, filteredPage) },
  { request: 'approval', goal: 48, files: await filesThatRun(readyForApproval, approve) },
  { request: 'run to completed', goal: 66, files: await filesThatRun(readyForRun, runToCompleted) },
  { request: 'attested run', goal: 75, files: await filesThatRun(readyForAttestedRun, runToCompleted) },
  { request: 'attestation before it', goal: '', files: await filesThatRun(readyToAttest, attest) },
];
await stores.stop();
coverage.disconnect();
if (process.argv.includes('--list'))
  for (const { request, files } of figures) console.log(`${request}\n  ${files.join('\n  ')}\n`);
console.table(figures.map(({ request, files, goal }) => ({ request, files: files.length, goal })));
