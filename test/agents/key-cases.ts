import { ok as ensure } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, strict } from './attested-cases.ts';
import { ensureEnd, refusalOf, type RehearsalCase, serveFiles } from './cases.ts';
import type { RehearsalWorld } from './rehearsal-world.ts';
import type { RehearsedRun } from './rehearsed-run.ts';

type Holder = 'service' | 'party';

/** The details of the events of a type in the journal of a run. */
async function detailsOf(world: RehearsalWorld, run: RehearsedRun, type: string): Promise<Record<string, unknown>[]> {
  const events = await world.service.events(run.computationId);
  return events
    .filter(({ event_type }) => event_type === type)
    .map(({ details }) => JSON.parse(Buffer.from(details, 'base64').toString()) as Record<string, unknown>);
}

/** Prepares a run with two encrypted datasets on an attested CVM: the agent fetches one, and a party sends the other. */
async function keyedRun(world: RehearsalWorld, held: Holder) {
  const run = await world.computation({ ...strict, datasets: 0, expected: '1003' });
  const files: Record<string, Buffer> = {};
  const server = await serveFiles(world, files);
  const [pulled, pushed] = ['pulled.csv', 'pushed.csv'].map((name) => join(run.directory, name)) as [string, string];
  writeFileSync(pulled, '1\n1000\n');
  writeFileSync(pushed, '2\n');
  await run.alice.cms('encrypt', pulled, '--copy', join(run.directory, 'copy.key'));
  files['/pulled.csv.enc'] = readFileSync(`${pulled}.enc`);
  const about = ['--key-held', held, '--type', 'dataset', '--computation', run.computationId];
  const add = async (...words: string[]) => {
    const { stdout } = await run.alice.cms('--json', 'asset', 'add', ...words, ...about);
    return (JSON.parse(stdout) as { id: string }).id;
  };
  const fetched = await add(`https://localhost:${server.port}/pulled.csv.enc`, '--encrypt', pulled);
  const asset = await add('--encrypt', pushed);
  const { CMS_SERVER = '' } = world.service.environment;
  const alsoReaches = [server.port, Number(new URL(CMS_SERVER).port)];
  const environment = { ...server.environment, KEY_BROKER: `${CMS_SERVER}/d1` };
  const { id, cvm } = await world.cvm(1, environment, { evidence: 'fresh', alsoReaches });
  await world.service.untilAttestation(id, { verdict: 'verified' });
  return { run, id, cvm, server, asset, fetched, broker: environment.KEY_BROKER };
}

const keys = (held: Holder) => async (world: RehearsalWorld) => {
  const { run, id, server } = await keyedRun(world, held);
  const broker =
    held === 'party' ? run.alice.cmsUntilStopped('broker', '--trust-service-for-manifest', '--root', root) : undefined;
  try {
    await run.start(id);
    await run.send('sum.sh', 'pushed.csv.enc');
    const end = await ensureEnd(world, run, 'completed');
    await run.fetchResult();
    const released = await detailsOf(world, run, 'key_released');
    const assets = new Set(released.map(({ asset }) => asset));
    ensure(released.length === 2 && assets.size === 2, `The keys were released so: ${JSON.stringify(released)}`);
    const decided = broker?.printed().match(/Released the key/g)?.length ?? 0;
    ensure(held === 'service' || decided === 2, `cms broker said: ${broker?.printed()}`);
    return `${end} The result is ${run.expected}. Both keys were released once${broker ? ', by the broker of alice' : ''}.`;
  } finally {
    broker?.stop();
    server.close();
  }
};

/** The party withdraws the approval after the start, as in the console, so the agent gets no key. */
async function withdrawn(world: RehearsalWorld): Promise<string> {
  const { run, id, server } = await keyedRun(world, 'service');
  await run.start(id);
  await world.service.ask('DELETE', `/d1/computations/${run.computationId}/approvals`); // with cms withdraw, cms sends nothing
  const refusal = await refusalOf(run);
  const end = await ensureEnd(world, run, 'failed');
  server.close();
  ensure(end.includes('The approval of alice was withdrawn.'), `The reason is another one: ${end} cms said: ${refusal}`);
  ensure((await detailsOf(world, run, 'key_released')).length === 0, 'A key was released.');
  return end;
}

/** The provider gave the service another key than that of the fetched file, so the agent gets it, and cannot decrypt. */
async function wrongKey(world: RehearsalWorld): Promise<string> {
  const { run, id, server, fetched } = await keyedRun(world, 'service');
  const key = Buffer.alloc(32, 1).toString('base64');
  await world.service.ask('PUT', `/d1/assets/${fetched}/key`, { held: 'service', key });
  await run.start(id);
  await run.send('sum.sh');
  const end = await ensureEnd(world, run, 'failed');
  server.close();
  ensure(end.includes('The agent could not decrypt pulled.csv'), `The reason is another one: ${end}`);
  return end;
}

/** Lets the `trustee-attester` of Confidential Containers ask for a key in the CVM of an agent that waits for files. */
const trusteeAttester = (program: string) => async (world: RehearsalWorld) => {
  const { run, id, cvm, server, asset, broker } = await keyedRun(world, 'service');
  await run.start(id);
  await world.service.untilEvent(run.computationId, 'ReceivingAlgorithm/InProgress');
  const asks = `'${program}' --url ${broker} get-resource --path ${asset}/key/1`;
  const sample = await cvm.run(asks);
  ensure(sample.code !== 0 && sample.printed.includes('no platform that proves anything'), `It said: ${sample.printed}`);
  const driver = join(run.directory, 'sev-guest.so');
  const device = '/sys/devices/platform';
  const prepared = await cvm.run(
    `cc -shared -fPIC -o ${driver} ${join(import.meta.dirname, 'sev-guest.c')} && mount -t tmpfs tmpfs ${device} && mkdir ${device}/sev-guest`,
  );
  ensure(prepared.code === 0, `The stand-in for the driver was not made: ${prepared.printed}`);
  const withDevice = `LD_PRELOAD=${driver} ${asks}`;
  const { printed } = await cvm.run(withDevice);
  const key = readFileSync(join(run.directory, 'pushed.csv.key'), 'utf8').trim();
  ensure(printed.split('\n').includes(key), `It did not get the key: ${printed}`);
  ensure((await detailsOf(world, run, 'key_released')).length === 1, 'The journal does not have one release.');
  await run.send('sum.sh', 'pushed.csv.enc');
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const late = await cvm.run(withDevice);
  ensure(late.code !== 0 && late.printed.includes('No active run'), `After the run it said: ${late.printed}`);
  server.close();
  return `It got the key with a report of the guest, none with sample evidence, and none after the run. ${end}`;
};

/** The cases of a program of others. @param program its path */
export const trusteeCases = (program: string): RehearsalCase[] => [{ name: 'trustee-attester', play: trusteeAttester(program) }];

/** The cases of files whose keys leave only for the CVM of the run. */
export const keyCases: RehearsalCase[] = [
  { name: 'keys-of-service', play: keys('service') },
  { name: 'keys-of-party', play: keys('party') },
  { name: 'keys-withdrawn', play: withdrawn },
  { name: 'keys-wrong', play: wrongKey },
];
