import { ServiceProblem, type Schemas } from 'computation-management-client';
import { attestationPolicyInput } from 'computation-management-formats/attestation';
import { fileName } from 'computation-management-formats/fields';
import { fetched } from 'computation-management-formats/source';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { fileFault, linkConflict } from '../../../../packages/console/assets/asset-texts.ts';
import { checksumNote } from '../../../../packages/console/assets/asset-texts.ts';
import { measurementNotes } from '../../../../packages/console/attestation/machines.ts';
import { pemNote, userNotes } from '../../../../packages/console/computations/form-notes.ts';
import { machinesFor } from '../../../../packages/console/attestation/machines.ts';
import { problemText } from '../../../../packages/console/loading/problem-text.ts';
import { listAbove } from '../../../../packages/console/routing/places.ts';
import { repairOf } from '../../../../packages/console/runs/repair.ts';
import { strictPolicy } from '../../../support/strict-policy.ts';

/** The screen, what was typed or done there, and what the console shows: what is wrong, why, and what to do next. */
type Mistake = [screen: string, done: string, shown: string | undefined, ...parts: string[]];

const seen = { users: ['alice', 'bob'], isWhole: true };
const users = (text: string, of = seen) => userNotes([text], of).join(' ');
const measurement = (text: string) => measurementNotes([text]).join(' ');
const hex = (digits: string, count: number) => digits.repeat(count / digits.length);
const pem = (label: string, end = true) => `-----BEGIN ${label}-----\nMIIB\n${end ? `-----END ${label}-----\n` : ''}`;

/** Returns what the service says at the field, as the form shows it. */
const refused = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).issues?.[0].message;
const policy = (changed: object) =>
  refused(attestationPolicyInput, { platforms: ['snp'], measurements: [hex('ab', 96)], ...changed });
const source = (url: string, changed = {}) => refused(fetched.source, { type: 'https', url, ...changed });

const problem = (code: ServiceProblem['code'], status: number, detail: string, more = {}) => {
  const {
    title,
    detail: said,
    advice,
    points,
  } = problemText(new ServiceProblem({ code, status, detail, request: 'GET /', requestId: 'r-1', ...more }));
  return [title, said, ...points, advice].join(' ');
};

const attested: NonNullable<Schemas['Cvm']['attestation']> = {
  platform: 'snp',
  verdict: 'verified',
  verified_at: '',
  measurement: hex('ab', 96),
  tcb: { bootloader: 4, tee: 0, snp: 24, microcode: 219 },
  token_hash: '',
  connection: 'attested',
  checks: [
    { name: 'debug', passed: true, detail: 'the host may not debug the guest' },
    { name: 'vmpl', passed: true, detail: 'the guest asked for the report at privilege level 0' },
  ],
};
interface MachineGiven {
  attestation?: Partial<typeof attested> | null;
  presence?: Partial<Schemas['Presence']>;
  policy?: Partial<typeof strictPolicy>;
}
const machine = ({ attestation = {}, presence = {}, policy: changed = {} }: MachineGiven) =>
  machinesFor({ ...strictPolicy, ...changed }, [
    {
      id: 'cvm-1',
      presence: { state: 'connected', fit: 'ready', agent_state: null, last_seen_at: null, ...presence },
      attestation: attestation && { ...attested, ...attestation },
    },
  ])
    .flatMap(({ id, reasons }) => reasons.map((reason) => `${id}: ${reason}`))
    .join(' ');

const failed = (phase: string, more: Partial<Parameters<typeof repairOf>[0]> = {}) =>
  repairOf({ reason: null, reason_code: null, ...more }, phase);
const conflict = (reason: NonNullable<ServiceProblem['reason']>) =>
  new ServiceProblem({ code: 'conflict', status: 409, detail: 'No.', request: 'POST /', reason });

const form = 'Create computation';
const start = 'Start run';
const asset = 'Upload asset';
const run = 'A failed run';

const mistakes: Mistake[] = [
  [form, 'consumer `al ice`', users('al ice'), '"al ice"', 'has a space', 'a line of its own'],
  [form, 'provider with a tab', users('al\tice'), 'has a space', 'a line of its own'],
  [form, 'consumer with a Cyrillic letter', users('\u0430lice'), 'U+0430', 'looks like "alice"', 'Check each letter'],
  [form, 'provider with an invisible letter', users('bob\u200b'), '200B', 'looks like "bob"', 'Check each letter'],
  [form, 'consumer `alise`', users('alise'), 'alise', 'never seen in this domain', 'cms whoami'],
  [form, 'provider `bobb` in a large domain', users('bobb', { ...seen, isWhole: false }), 'bobb', 'newest', 'cms whoami'],
  [form, 'certificate `hello`', pemNote('hello', 'certificate'), 'hello', 'no certificate in PEM', 'begins with /'],
  [
    form,
    'certificate `etc/cert.pem`',
    pemNote('etc/cert.pem', 'certificate'),
    'etc/cert.pem',
    'path inside the CVM?',
    'begins with /',
  ],
  [form, 'a cut certificate', pemNote(pem('CERTIFICATE', false), 'certificate'), 'is cut', '-----END', 'Paste the whole file'],
  [
    form,
    'a public key as certificate',
    pemNote(pem('PUBLIC KEY'), 'certificate'),
    'no certificate',
    'first line',
    'Paste the file',
  ],
  [form, 'a request as certificate', pemNote(pem('CERTIFICATE REQUEST'), 'certificate'), 'no certificate', 'first line', 'Paste'],
  [form, 'private key `nonsense`', pemNote('nonsense', 'private key'), 'nonsense', 'no private key in PEM', 'begins with /'],
  [form, 'a cut private key', pemNote(pem('PRIVATE KEY', false), 'private key'), 'is cut', '-----END', 'Paste the whole file'],
  [form, 'measurement `abab`', measurement('abab'), 'abab', 'has 4 hex digits', 'copy it whole'],
  [form, 'a SHA-256 as measurement', measurement(hex('ab', 64)), '64 hex digits', 'SHA-256', 'copy it whole'],
  [form, 'two measurements on a line', measurement(`${hex('ab', 96)} ${hex('cd', 96)}`), 'other characters', '96', 'copy it'],
  [form, 'measurement in base64', measurement('q6urq6s='), 'other characters', '96 hex digits', 'copy it whole'],
  [form, 'measurement with a prefix', measurement(`sha384:${hex('ab', 96)}`), 'other characters', 'copy it whole'],
  [
    form,
    'a policy without a platform',
    policy({ platforms: [] }),
    'Expected a list of az-snp-vtpm, az-tdx-vtpm, snp, snp-vtpm, tdx.',
  ],
  [form, 'a policy without a measurement', policy({ measurements: [] }), 'Expected 1 to 32 measurements of 96 hex digits.'],
  [form, '33 measurements', policy({ measurements: Array(33).fill(hex('ab', 96)) }), '1 to 32 measurements'],
  [form, 'status `Good`', policy({ accepted_tcb_statuses: ['Good'] }), 'Expected one of', 'UpToDate'],
  [form, 'advisory `SA-837`', policy({ accepted_advisories: ['SA-837'] }), 'such as INTEL-SA-00837'],
  [form, 'least version 300', policy({ minimum_tcb: { bootloader: 300, tee: 0, snp: 0, microcode: 0 } }), '0 to 255'],
  [
    form,
    'least versions in words',
    policy({ minimum_tcb: { bootloader: NaN, tee: 0, snp: 0, microcode: 0 } }),
    'whole number',
    '255',
  ],
  [asset, 'a file of 6 GiB', fileFault({ size: 6 * 1_024 ** 3 }), 'The file has', 'Storage takes files of up to', 'split it'],
  [asset, 'a second algorithm', linkConflict(conflict('second_algorithm'), 'second_algorithm'), 'has an algorithm', 'Choose'],
  [asset, 'a second `penguins.csv`', linkConflict(conflict('file_name_taken'), 'file_name_taken'), 'of this name', 'Choose'],
  [asset, 'file name `data/a.csv`', refused(fileName, 'data/a.csv'), 'Expected'],
  [asset, 'a SHA-1 as hash', checksumNote(hex('ab', 40)), '64 hex digits', 'has 40', 'Choose the file'],
  [asset, 'a hash with a prefix', checksumNote(`sha3:${hex('ab', 64)}`), '64 hex digits', 'has 69', 'Choose the file'],
  [
    asset,
    'an address with a query',
    source('https://example.com/a?token=1'),
    'without a query',
    'everyone in the domain reads it',
  ],
  [
    asset,
    'an address with a password',
    source('https://me:pw@example.com/a'),
    'without a user',
    'everyone in the domain reads it',
  ],
  [
    asset,
    'an address with a fragment',
    source('https://example.com/a#b'),
    'without a fragment',
    'everyone in the domain reads it',
  ],
  [asset, 'an address on S3', source('s3://bucket/a'), 'Agents read s3://', 'not from S3', 'Use https'],
  [asset, 'an address with two dots', source('https://example.com/../a'), 'without two dots in a row'],
  [
    asset,
    'an address with a token',
    source('https://example.com/ghp_abcdefghijklmnopqrst'),
    'token',
    'Everyone in the domain reads it',
  ],
  [asset, 'an address without a scheme', source('example.com/a'), 'begins with', 'https://'],
  [
    asset,
    'a path of two parts',
    source('https://e.org/a', { kbs_resource_path: 'key/a' }),
    'three segments',
    'default/key/penguins',
  ],
  [
    start,
    'another image',
    machine({ attestation: { measurement: hex('cd', 96) } }),
    'cvm-1: its measurement is cdcdcdcd…cdcdcdcd',
    'the policy allows abababab…abababab',
  ],
  [
    start,
    'level 2',
    machine({
      attestation: { checks: [...attested.checks.slice(0, 1), { name: 'vmpl', passed: true, detail: 'at privilege level 2' }] },
    }),
    'its vmpl is 2',
    'the policy allows 0',
  ],
  [
    start,
    'a debugged machine',
    machine({ attestation: { checks: [{ name: 'debug', passed: false, detail: 'it may' }], verdict: 'refused' } }),
    'the host may debug the guest',
    'the policy forbids debugging',
  ],
  [
    start,
    'old firmware',
    machine({ policy: { minimum_tcb: { bootloader: 9, tee: 0, snp: 0, microcode: 0, fmc: null } } }),
    'bootloader is 4',
    'demands 9 or more',
  ],
  [start, 'another platform', machine({ policy: { platforms: ['tdx'] } }), 'its platform is snp', 'the policy allows tdx'],
  [start, 'a machine without evidence', machine({ attestation: null }), 'sent no evidence', 'restart its agent'],
  [start, 'a machine that is off', machine({ presence: { state: 'disconnected' } }), 'is not connected', 'start its agent'],
  [start, 'a busy machine', machine({ presence: { fit: 'busy' } }), 'is busy with a run', 'wait for its end'],
  [start, 'a spent machine', machine({ presence: { fit: 'spent' } }), 'has had its run', 'restart its agent'],
  [
    start,
    'a broken connection',
    machine({ attestation: { connection: 'reconnected' } }),
    'lost the connection',
    'restart its agent',
  ],
  [
    run,
    'an algorithm that fails',
    failed('Running the algorithm'),
    'Likely the algorithm',
    'ended with an error',
    'uploads it again',
  ],
  [run, 'a CVM that takes nothing', failed('Waiting for the CVM'), 'did not take the run', 'another CVM'],
  [run, 'a missing algorithm', failed('Receiving the algorithm'), 'did not arrive', 'cms send'],
  [run, 'a missing dataset', failed('Receiving the data'), 'did not arrive', 'cms send'],
  [run, 'a result that nobody fetched', failed('Result ready'), 'not fetched in time', 'cms result'],
  [
    run,
    'another file at its address',
    failed('Running', { reason_code: 'input_changed' }),
    'another than the approved one',
    'restores it',
  ],
  [
    run,
    'a machine that was replaced',
    failed('Running', { reason: 'The attestation does not fit.' }),
    'did not prove',
    'choose another CVM',
  ],
  [run, 'an unknown phase', failed('Other'), 'Run again', 'ask the owner of the CVM'],
  [
    'Any',
    'an unknown address',
    problem('not_found', 404, 'No such computation in this domain.'),
    'This does not exist',
    'No such computation',
    'Look for it in its list',
  ],
  ['Any', 'a link back', listAbove('/console/domains/d1/computations/not-an-id')?.text, 'Open the list of computations'],
  [
    'Any',
    'a missing role',
    problem('forbidden', 403, 'Requires the role runner.'),
    'You may not do this',
    'Requires the role',
    'Ask an administrator',
  ],
  [
    'Any',
    'an expired sign-in',
    problem('unauthenticated', 401, 'It has expired.'),
    'You are not signed in',
    'It has expired',
    'Keep a copy',
  ],
  ['Any', 'too many requests', problem('too_many_requests', 429, 'Slower.'), 'takes no more requests', 'Try again in a minute'],
  ['Any', 'no connection', problem('unreachable', 0, 'Failed to fetch'), 'No service answers', 'Check your connection'],
  [
    'Any',
    'a fault of the service',
    problem('internal', 500, 'It broke.'),
    'Something went wrong',
    'It broke',
    'send the request identifier',
  ],
  [
    start,
    'nothing is ready',
    problem('incomplete', 422, 'Not yet.', { missing_items: { keys: ['bob'], hashes: ['a.csv'], info: ['Missing algorithm'] } }),
    'not ready',
    'The public key of bob',
    'The content of a.csv',
    'An algorithm',
  ],
];

describe('a mistake in the console says what is wrong, why, and what to do next', () => {
  it(`is in the list at least 60 times`, () => {
    expect(new Set(mistakes.map(([screen, done]) => `${screen} ${done}`)).size).toBeGreaterThanOrEqual(60);
  });

  it.each(mistakes)('%s: %s', (_screen, _done, shown, ...parts) => {
    for (const part of parts) expect(shown).toContain(part);
  });
});

it.each([
  ['a user who was seen', users('alice')],
  ['a path as certificate', pemNote('/etc/cert.pem', 'certificate')],
  ['a whole certificate', pemNote(pem('CERTIFICATE'), 'certificate')],
  ['a whole private key', pemNote(pem('EC PRIVATE KEY'), 'private key')],
  ['a measurement', measurement(hex('AB', 96))],
  ['a hash', checksumNote(hex('ab', 64))],
  ['a machine that the policy allows', machine({})],
])('says nothing of %s', (_, shown) => {
  expect(shown || undefined).toBeUndefined();
});
