import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { createProgram } from '../../../packages/cms/run-cms.ts';
import { amount, oneOf, sampleSeed } from '../../support/amounts.ts';
import { type Call, callAs } from '../../support/ready-computation.ts';
import { repeating } from '../../support/repeating-call.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-hijack-'));
const key = writeSshKeys(folder);
writeFileSync(`${key}.pub.secret`, Buffer.alloc(32, 7).toString('base64'));
let stack: Stack;
let as: Record<'alice' | 'mallory', Call>;
let bob: ReturnType<typeof cmsIn>;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  writeFileSync(`${key}.pub.key`, Buffer.alloc(32, 'k').toString('base64'));
  const user = async (name: string) => repeating(callAs(stack.baseUrl, await stack.token(name, ['d1:creator'])));
  as = { alice: await user('alice'), mallory: await user('mallory') };
  bob = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl }, userName: 'bob' });
  await bob('login', '--local', '--role', 'dataset_provider');
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

type Kind = 'computation' | 'asset';
type Command = ReturnType<typeof createProgram>;

/**
 * The commands of `cms` that take the name of a computation or of an asset, each with a command line that comes as far as its first request
 * that changes something. FILE is a file of the user, FILE.key a key of a file, and KEY the user's private key.
 */
const commandLines: [command: string, line: string][] = [
  ['export', 'COMPUTATION'],
  ['computation show', 'COMPUTATION'],
  ['computation update', 'COMPUTATION --description changed'],
  ['computation delete', 'COMPUTATION --yes'],
  ['computation use', 'COMPUTATION'],
  ['asset upload', 'FILE --type dataset --computation COMPUTATION'],
  ['asset upload', 'FILE --asset ASSET'],
  ['asset add', `https://files.example.com/a --type dataset --checksum ${'0'.repeat(64)} --computation COMPUTATION`],
  ['asset declare', 'FILE --type dataset --computation COMPUTATION'],
  ['asset show', 'ASSET'],
  ['asset download', 'ASSET --output FILE.downloaded'],
  ['asset link', 'ASSET COMPUTATION'],
  ['asset unlink', 'ASSET COMPUTATION'],
  ['asset delete', 'ASSET --yes'],
  ['asset key set', 'ASSET --key FILE.secret --key-held service'],
  ['asset key show', 'ASSET'],
  ['asset key remove', 'ASSET'],
  ['key upload', 'FILE COMPUTATION'],
  ['key remove', 'COMPUTATION'],
  ['key show', 'COMPUTATION'],
  ['check', 'COMPUTATION'],
  ['manifest', 'COMPUTATION'],
  ['approve', 'COMPUTATION --yes'],
  ['refuse', 'COMPUTATION --reason no'],
  ['approvals', 'COMPUTATION'],
  ['withdraw', 'COMPUTATION --yes'],
  ['run', 'COMPUTATION --cvm cvm-1'],
  ['watch', 'COMPUTATION'],
  ['stop', 'COMPUTATION'],
  ['runs', 'COMPUTATION'],
  ['send', 'FILE --key KEY --computation COMPUTATION'],
  ['result', 'COMPUTATION --key KEY --output FILE.result'],
  ['review', 'COMPUTATION --file FILE --release'],
  ['attest', '--computation COMPUTATION'],
  ['events', 'COMPUTATION'],
  ['logs', 'COMPUTATION'],
  ['evidence', 'COMPUTATION --output FILE.evidence'],
];

/** The places at which a command prints what it is about to change before the service answers. */
const changing = [
  'computation update COMPUTATION',
  'computation delete COMPUTATION',
  'asset upload COMPUTATION',
  'asset add COMPUTATION',
  'asset declare COMPUTATION',
  'asset link ASSET',
  'asset link COMPUTATION',
  'asset unlink ASSET',
  'asset unlink COMPUTATION',
  'asset delete ASSET',
  'asset key set ASSET',
  'asset key remove ASSET',
  'key upload COMPUTATION',
  'key remove COMPUTATION',
  'refuse COMPUTATION',
  'withdraw COMPUTATION',
  'run COMPUTATION',
  'stop COMPUTATION',
];

/** Lists the commands below a command with each place at which they take the name of a computation or asset, such as `stop COMPUTATION`. */
function placesOf(command: Command, path: string[] = []): string[] {
  const taken = [...command.registeredArguments.map((each) => each.name()), ...command.options.map(({ flags }) => flags)];
  const named = taken.flatMap((text) => /\b(COMPUTATION|ASSET)\b/.exec(text)?.[1] ?? []);
  return [
    ...named.map((place) => [...path, place].join(' ')),
    ...command.commands.flatMap((each) => placesOf(each, [...path, each.name()])),
  ];
}

/** The command lines with a name at one place and an identifier at the other one, for each place. */
const cases = commandLines.flatMap(([command, line]) =>
  [...line.matchAll(/COMPUTATION|ASSET/g)].map(([place]) => ({
    place: `${command} ${place}`,
    kind: place === 'ASSET' ? ('asset' as const) : ('computation' as const),
    words: (names: Record<Kind, string>) => [
      ...command.split(' '),
      ...line.split(' ').map((word) => {
        if (word === 'COMPUTATION') return names.computation;
        if (word === 'ASSET') return names.asset;
        return word === 'KEY' ? key : word.replace(/^FILE/, `${key}.pub`);
      }),
      '--json',
    ],
  })),
);

const lookAlikes: ((name: string, index: number) => string)[] = [
  (name, index) => `${name} ${index}`,
  (name) => name.toUpperCase(),
  (name, index) => `${name}${'\u200b'.repeat(index + 1)}`,
  (name) => name.replaceAll('a', '\u0430'),
  (name) => ` ${name}`,
  (name) => Array.from(name).slice(0, -1).join(''),
];
const letters = 'aeiou bcd';

/** Creates a computation and an asset of a name. @returns their identifiers; undefined for what the service refuses */
async function create(user: 'alice' | 'mallory', name: string): Promise<Record<Kind, string | undefined>> {
  const created = async (path: string, body: unknown) => (await as[user]('POST', path, body)).body['id'] as string | undefined;
  return {
    computation: await created('/d1/computations', { name }),
    asset: await created('/d1/assets', { asset: { file_name: name, asset_type: 'dataset' } }),
  };
}

describe('the commands of cms that take a name', () => {
  it('are those whose names are tried here', () => {
    const program = createProgram('0', () => () => Promise.resolve());
    expect(cases.map(({ place }) => place).sort()).toEqual(placesOf(program).sort());
  });
});

describe('a name that another user imitates', () => {
  const random = seededRandom(sampleSeed);
  const sample = oneOf([1 + Math.floor(random() * 199), 200]);
  const lengths = amount({ sample, full: Array.from({ length: 200 }, (_, index) => index + 1) });
  it.each(lengths)(`of %i characters leads no command of cms to what is the other's (seed ${sampleSeed})`, async (length) => {
    const drawn = Array.from({ length: length - 1 }, () => letters[Math.floor(random() * letters.length)]).join('');
    const name = `x${drawn}`.replace(/ $/, 'e');
    const { computation = '', asset = '' } = await create('alice', name);
    const ids = { computation, asset };
    const imitations = Array.from({ length: amount({ sample: 18, full: 300 }) }, (_, index) => {
      return lookAlikes[index % lookAlikes.length]?.(name, index) ?? '';
    });
    const imitationsTried = imitations.length;
    const others: Record<Kind, string | undefined>[] = [];
    const worker = async () => {
      for (let given = imitations.pop(); given !== undefined; given = imitations.pop()) {
        if (given !== name) others.push(await create('mallory', given));
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    const changed: string[] = [];
    for (const { place, kind, words } of cases) {
      const { exitCode, stderr } = await bob(...words({ ...ids, [kind]: name }));
      // Look-alikes may make the answer long, and then no name is resolved. They never make it another one.
      if (exitCode === 2) expect(stderr, place).toContain('Use an identifier');
      for (const line of stderr.split('\n').filter((each) => each.startsWith('{"changing":'))) {
        const { changing: told } = JSON.parse(line) as { changing: { kind: Kind } };
        expect(told, place).toEqual({ kind: told.kind, id: ids[told.kind], name, owner: 'alice' });
        changed.push(place);
      }
    }
    // While the last of many look-alikes are filed, some commands still resolve the name, and later ones do not.
    if (changed.length > 0 && imitationsTried <= 20) expect([...new Set(changed)]).toEqual(changing);
    else expect(changing).toEqual(expect.arrayContaining(changed));

    others.push(await create('mallory', name));
    for (const { place, kind, words } of cases) {
      const refused = await bob(...words({ ...ids, [kind]: name }));
      expect(refused, place).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${ids[kind]} of alice`) });
      expect(refused.stderr, place).not.toContain('"changing"');
    }
    expect(await bob('key', 'upload', `${key}.pub`, computation)).toMatchObject({ exitCode: 0 });
    for (const other of others.flatMap((each) => each.computation ?? [])) {
      const { body } = await as.alice('GET', `/d1/computations/${other}/events?limit=100`);
      expect(body, other).toMatchObject({ events: [{ event_type: 'created', originator: 'mallory' }], total: 1 });
    }
    const { assets } = (await as.alice('GET', `/d1/computations/${computation}`)).body as { assets: { id: string }[] };
    expect(assets.filter(({ id }) => others.some((other) => other.asset === id))).toEqual([]);
  });
});
