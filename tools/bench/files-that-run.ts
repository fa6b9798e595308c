import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { localFunctions } from '../../local/functions/local-functions.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import { aReadyComputation, startStores } from '../../test/support/builders-store.ts';
import { type EndpointRequest, httpEvent } from '../../test/support/http-event.ts';
import { setTestEnvironment } from '../../test/support/test-environment.ts';
import { aCvm, fillWorld, taskToken } from './bench-world.ts';
import { printTable } from './print-table.ts';

/**
 * Prints how many files of the service a reader of three requests meets: those with a function that V8 saw running during the
 * request, not at import. Also prints how many files two functions import at run time, directly or through others.
 * --list prints the names too.
 */
const root = join(import.meta.dirname, '../..');
const service = /^(functions|shared|packages)\//;

const stores = await startStores();
setTestEnvironment(stores.endpoints);
const invoke = localFunctions({});
const world = await fillWorld(stores);
const coverage = new Session();
coverage.connect();
await coverage.post('Profiler.enable');
await coverage.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

interface Request extends EndpointRequest {
  method: string;
  name: RouteName;
}

async function call({ method, name, ...request }: Request): Promise<unknown> {
  const { statusCode, body } = (await invoke(name, httpEvent(method, world.domain, request))) as {
    statusCode: number;
    body: string;
  };
  if (statusCode >= 300) throw new Error(`${name}: ${body}`);
  return JSON.parse(body);
}

const create = async () => {
  await call({ method: 'POST', name: 'computations/create-computation', body: { name: 'Iris' } });
};

const filteredPage = async () => {
  await call({ method: 'GET', name: 'computations/list-computations', query: { status: 'created', limit: '2' } });
};

/** From the start of a run, through each step of the state machine, to its end. */
const runToCompleted = async ({ id, cvmID }: { id: string; cvmID: string }) => {
  const run_id = String(await call({ method: 'POST', name: 'runs/start-run', path: { id }, query: { cvm: cvmID } }));
  const run = { domain: world.domain, computation_id: id, run_id, cvm_id: cvmID };
  await invoke('lifecycle/offer-run', { run, task_token: taskToken });
  const { commands } = (await call({ method: 'GET', name: 'cvms/list-commands', path: { cvmID } })) as {
    commands: { id: string }[];
  };
  const report = (reported: object) =>
    call({ method: 'POST', name: 'cvms/report', path: { cvmID }, body: { reports: [{ run_id, ...reported }] } });
  await report({ id: 'a', type: 'accepted', command_id: commands[0]?.id });
  await invoke('lifecycle/await-cvm', { run, task_token: taskToken });
  await report({ id: 'b', type: 'event', event_type: 'Complete', status: 'Completed' });
  await invoke('lifecycle/record-outcome', run);
  const { status } = (await call({ method: 'GET', name: 'runs/get-run', path: { id } })) as { status: string };
  if (status !== 'completed') throw new Error(`The run is ${status}.`);
};

async function readyForRun() {
  return { id: (await aReadyComputation(stores, world.domain)).id, cvmID: aCvm() };
}

/** Does the work once to import its files, and again to record those whose functions run. */
async function filesThatRun<T>(prepare: () => Promise<T>, work: (prepared: T) => Promise<void>): Promise<string[]> {
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

/** The files of the repository that a function imports at run time, with itself. */
async function closureOf(name: RouteName): Promise<string[]> {
  const entryPoints = [join(root, `functions/${name}.ts`)];
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs)
    .filter((file) => service.test(file))
    .sort();
}

const figures = [
  { what: 'create runs', goal: 43, files: await filesThatRun(async () => undefined, create) },
  { what: 'filtered page runs', goal: 30, files: await filesThatRun(async () => undefined, filteredPage) },
  { what: 'run to completed runs', goal: 71, files: await filesThatRun(readyForRun, runToCompleted) },
  {
    what: 'computations/create-computation imports',
    goal: 100,
    files: await closureOf('computations/create-computation'),
  },
  { what: 'keys/check-key imports', goal: 55, files: await closureOf('keys/check-key') },
];
await stores.stop();
coverage.disconnect();
if (process.argv.includes('--list')) for (const { what, files } of figures) console.log(`${what}\n  ${files.join('\n  ')}\n`);
printTable(figures.map(({ what, goal, files }) => ({ what, files: files.length, goal })));
