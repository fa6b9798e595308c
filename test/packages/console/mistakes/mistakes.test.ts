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
import { machineLines, machinesFor } from '../../../../packages/console/attestation/machines.ts';
import { problemText } from '../../../../packages/console/loading/problem-text.ts';
import { listAbove } from '../../../../packages/console/routing/places.ts';
import { repairOf } from '../../../../packages/console/runs/repair.ts';
import { strictPolicy } from '../../../support/strict-policy.ts';

/** A mistake: the screen, the act, what the console shows, and its phrases for what is wrong, why, and what to do next. */
type Mistake = [screen: string, done: string, shown: string | undefined, what: string, why: string, next: string];

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
const judged = ({ attestation = {}, presence = {}, policy: changed = {} }: MachineGiven) =>
  machinesFor({ ...strictPolicy, ...changed }, [
    {
      id: 'cvm-1',
      presence: { state: 'connected', fit: 'ready', agent_state: null, last_seen_at: null, ...presence },
      attestation: attestation && { ...attested, ...attestation },
    },
  ]);
const machine = (given: MachineGiven) => machineLines(judged(given)).join(' ');

/** Returns the header and the text about a failed run, as its page shows them. */
const failed = (phase: string, { reason = 'The CVM failed.', ...more }: Partial<Parameters<typeof repairOf>[0]> = {}) => {
  const { what, repair, isInLog } = repairOf({ reason, reason_code: null, ...more }, phase);
  return `The run failed: ${what} ${repair}${isInLog ? ' Nobody may read the log of the algorithm.' : ''}`;
};
const conflict = (reason: NonNullable<ServiceProblem['reason']>) =>
  new ServiceProblem({ code: 'conflict', status: 409, detail: 'No.', request: 'POST /', reason });
const notFound = (pathname: string) =>
  `${problem('not_found', 404, 'No such computation in this domain.')} ${listAbove(pathname)?.text ?? ''}`;
const least = (bootloader: number) => policy({ minimum_tcb: { bootloader, tee: 0, snp: 0, microcode: 0 } });

const cert = 'certificate';
const key = 'private key';
const two = `${hex('ab', 96)} ${hex('cd', 96)}`;
const prefixed = `sha384:${hex('ab', 96)}`;
const many = Array<string>(33).fill(hex('ab', 96));
const token = 'https://example.com/ghp_abcdefghijklmnopqrst';
const algorithm = 'second_algorithm';
const taken = 'file_name_taken';
const debugCheck = { name: 'debug', passed: false, detail: 'the guest policy lets the host debug the guest' };
const debugged: MachineGiven = { attestation: { checks: [debugCheck, ...attested.checks.slice(1)], verdict: 'refused' } };
const atLevel2 = [...attested.checks.slice(0, 1), { name: 'vmpl', passed: true, detail: 'at privilege level 2' }];
const chain = { name: 'certificate_chain', passed: false, detail: 'it ends elsewhere' };
const old: MachineGiven = { policy: { minimum_tcb: { bootloader: 9, tee: 0, snp: 0, microcode: 0, fmc: null } } };
const reconnected: MachineGiven = { attestation: { connection: 'reconnected' } };
const running = 'Running the algorithm';
const late = { reason: 'No CVM accepted the run in time.' };
const changedFile = { reason_code: 'input_changed', reason: 'The agent fetched a.csv with another hash.' } as const;
const replaced = { reason: 'The CVM cvm-1 does not satisfy the attestation policy. It has no attestation.' };
const address = '/console/domains/d1/computations/not-an-id';
const needsRole = 'Requires the role runner.';
const expired = 'Your sign-in has expired.';
const slower = 'The domain d1 makes more than 10 changes per second.';
const noFetch = 'Failed to fetch';
const broke = 'It broke.';
const missing_items = { keys: ['bob'], hashes: ['a.csv'], info: ['Missing algorithm'] };
const unready = problem('incomplete', 422, 'The computation is not ready to run: something is missing.', { missing_items });

const form = 'Create computation';
const start = 'Start run';
const asset = 'Upload asset';
const run = 'A failed run';
const any = 'Any';

const mistakes: Mistake[] = [
  [form, 'consumer `al ice`', users('al ice'), '"al ice"', 'has a space in it', 'put each on a line of its own'],
  [form, 'provider with a tab', users('al\tice'), 'al\\u{0009}ice', 'has a space in it', 'put each on a line of its own'],
  [form, 'consumer with a Cyrillic letter', users('\u0430lice'), 'U+0430', 'looks like "alice"', 'Delete this line'],
  [form, 'provider with an invisible letter', users('bob\u200b'), 'bob\\u{200B}', 'an invisible character', 'press it after Add'],
  [form, 'consumer `alise`', users('alise'), 'alise', 'never seen in this domain', 'the name that cms whoami shows'],
  [form, 'provider `bobb` in a large domain', users('bobb', { ...seen, isWhole: false }), 'bobb', 'newest', 'cms whoami shows'],
  [form, 'certificate `hello`', pemNote('hello', cert), 'hello', 'no certificate in PEM', 'path begins with /'],
  [
    form,
    'certificate `etc/cert.pem`',
    pemNote('etc/cert.pem', cert),
    'etc/cert.pem',
    'no certificate in PEM',
    'path begins with /',
  ],
  [
    form,
    'a cut certificate',
    pemNote(pem('CERTIFICATE', false), cert),
    'is cut',
    '-----END …, is missing',
    'Paste the whole file',
  ],
  [
    form,
    'a public key as certificate',
    pemNote(pem('PUBLIC KEY'), cert),
    'no certificate',
    'first line is not',
    'Paste the file',
  ],
  [form, 'a request as certificate', pemNote(pem('CERTIFICATE REQUEST'), cert), 'no certificate', 'first line is not', 'Paste'],
  [form, 'private key `nonsense`', pemNote('nonsense', key), 'nonsense', 'no private key in PEM', 'path begins with /'],
  [
    form,
    'a cut private key',
    pemNote(pem('PRIVATE KEY', false), key),
    'is cut',
    '-----END …, is missing',
    'Paste the whole file',
  ],
  [form, 'measurement `abab`', measurement('abab'), '"abab"', 'has 4 hex digits', 'get it whole from who built'],
  [form, 'a SHA-256 as measurement', measurement(hex('ab', 64)), '64 hex digits', 'as a SHA-256 has', 'get it whole from'],
  [
    form,
    'two measurements on a line',
    measurement(two),
    'abab"…',
    'has a space in it',
    'Put each measurement on a line of its own',
  ],
  [form, 'measurement in base64', measurement('q6urq6s='), '"q6urq6s="', 'other characters than', 'get it whole from who built'],
  [
    form,
    'measurement with a prefix',
    measurement(prefixed),
    '"sha384:',
    'more than a measurement',
    'Remove "sha384:", and keep the 96',
  ],
  [
    form,
    'a policy without a platform',
    policy({ platforms: [] }),
    'at least one platform',
    'that of your CVM',
    'as its page shows',
  ],
  [
    form,
    'a policy without a measurement',
    policy({ measurements: [] }),
    'Enter a measurement',
    '96 hex digits',
    'get it from who built the image',
  ],
  [form, '33 measurements', policy({ measurements: many }), 'Of 33 measurements', 'at most 32 are allowed', 'remove 1'],
  [form, 'status `Good`', policy({ accepted_tcb_statuses: ['Good'] }), 'Expected', 'one of Config', 'UpToDate'],
  [
    form,
    'advisory `SA-837`',
    policy({ accepted_advisories: ['SA-837'] }),
    'no identifier',
    'of an advisory',
    'Write it like INTEL-SA-00837',
  ],
  [form, 'least version 300', least(300), 'Expected a whole number', '0 to 255', "take it from AMD's bulletins"],
  [form, 'least versions in words', least(NaN), 'Expected a whole number', '0 to 255', "take it from AMD's bulletins"],
  [
    asset,
    'a file of 6 GiB',
    fileFault({ size: 6 * 1_024 ** 3 }),
    'The file has',
    'takes files of up to',
    'split it, or compress it',
  ],
  [
    asset,
    'a second algorithm',
    linkConflict(conflict(algorithm), algorithm),
    'The computation',
    'has an algorithm',
    'Choose another type',
  ],
  [
    asset,
    'a second `penguins.csv`',
    linkConflict(conflict(taken), taken),
    'has a dataset',
    'of this name',
    'Choose another name',
  ],
  [asset, 'file name `data/a.csv`', refused(fileName, 'data/a.csv'), 'Expected a file name', 'without slashes', 'not allowed'],
  [
    asset,
    'a SHA-1 as hash',
    checksumNote(hex('ab', 40)),
    'has 64 hex digits',
    'this has 40',
    'Choose the file: its hash is computed',
  ],
  [
    asset,
    'a hash with a prefix',
    checksumNote(`sha3:${hex('ab', 64)}`),
    'Remove "sha3:"',
    'of the SHA3-256',
    'keep the 64 hex digits',
  ],
  [
    asset,
    'an address with a query',
    source('https://example.com/a?token=1'),
    'an address',
    'everyone in the domain',
    'without a query',
  ],
  [
    asset,
    'an address with a password',
    source('https://me:pw@example.com/a'),
    'an address',
    'everyone',
    'without a user or password',
  ],
  [
    asset,
    'an address with a fragment',
    source('https://example.com/a#b'),
    'an address',
    'may not have a part after #',
    'Remove #',
  ],
  [asset, 'an address on S3', source('s3://bucket/a'), 'Agents read s3://', 'not from S3', 'Use https'],
  [asset, 'an address with two dots', source('https://example.com/../a'), 'Expected an address', 'two dots in a row', 'without'],
  [
    asset,
    'an address with a token',
    source(token),
    'looks like an access token',
    'everyone would read',
    'Use an address without it, or none',
  ],
  [asset, 'an address without a scheme', source('example.com/a'), 'Expected an address', 'that begins with', 'https://'],
  [
    asset,
    'a path of two parts',
    source('https://e.org/a', { kbs_resource_path: 'key/a' }),
    'a path',
    'three segments',
    'such as default/',
  ],
  [
    start,
    'another image',
    machine({ attestation: { measurement: hex('cd', 96) } }),
    'cvm-1: its',
    'cdcdcdcd…cdcdcdcd',
    'policy allows abab',
  ],
  [
    start,
    'level 2',
    machine({ attestation: { checks: atLevel2 } }),
    '(VMPL) is 2',
    'unmeasured software may ask',
    'ask its owner to fix it, or use',
  ],
  [
    start,
    'a debugged machine',
    machine(debugged),
    'the host may debug',
    'could then read your data',
    'ask its owner to start it without',
  ],
  [
    start,
    'old firmware',
    machine(old),
    'bootloader is 4',
    'demands 9 or more',
    'ask its owner to update its firmware, or use another CVM',
  ],
  [
    start,
    'another platform',
    machine({ policy: { platforms: ['tdx'] } }),
    'cvm-1: its platform',
    'is snp',
    'the policy allows tdx',
  ],
  [start, 'a machine without evidence', machine({ attestation: null }), 'cvm-1', 'sent no evidence', 'restart its agent'],
  [
    start,
    'a machine that is off',
    machine({ presence: { state: 'disconnected' } }),
    'cvm-1',
    'is not connected',
    'start its agent',
  ],
  [start, 'a busy machine', machine({ presence: { fit: 'busy' } }), 'cvm-1', 'is busy with a run', 'or use another CVM'],
  [start, 'a spent machine', machine({ presence: { fit: 'spent' } }), 'cvm-1', 'has had its run', 'ask its owner to restart it'],
  [start, 'a broken connection', machine(reconnected), 'cvm-1', 'lost the connection', 'restart its agent, or allow reconnects'],
  [run, 'an algorithm that fails', failed(running), 'failed: The algorithm failed', 'ended with an error', 'provider repairs it'],
  [
    run,
    'a CVM that takes nothing',
    failed('Waiting for the CVM', late),
    'No CVM accepted',
    'did not take the run',
    'another CVM',
  ],
  [
    run,
    'a missing algorithm',
    failed('Receiving the algorithm'),
    'failed: The algorithm did not',
    'not sent in time',
    'cms send',
  ],
  [run, 'a missing dataset', failed('Receiving the data'), 'failed: A dataset did not arrive', 'not sent in time', 'cms send'],
  [run, 'a result that nobody fetched', failed('Result ready'), 'failed: The result', 'not fetched in time', 'with cms result'],
  [
    run,
    'another file at its address',
    failed(running, changedFile),
    'A file at its address',
    'another than the approved',
    'restores it',
  ],
  [run, 'a machine that was replaced', failed(running, replaced), 'does not satisfy', 'did not prove', 'choose another CVM'],
  [run, 'an unknown phase', failed('Verifying'), 'The CVM failed', 'The reason is not known', 'ask the owner of the CVM'],
  [
    any,
    'an unknown address',
    notFound(address),
    'This does not exist',
    'it was deleted',
    'Look for it in its list. Open the list of',
  ],
  [any, 'a mistyped address', notFound(address), 'No such computation', 'mistyped or cut', 'Open the list of computations'],
  [any, 'a missing role', problem('forbidden', 403, needsRole), 'You may not do this', needsRole, 'Ask an administrator'],
  [any, 'an expired sign-in', problem('unauthenticated', 401, expired), 'You are not signed in', expired, 'Keep a copy'],
  [any, 'too many requests', problem('too_many_requests', 429, slower), 'takes no more', slower, 'Try again in a minute'],
  [any, 'no connection', problem('unreachable', 0, noFetch), 'No service answers', noFetch, 'Check your connection'],
  [any, 'a fault of the service', problem('internal', 500, broke), 'Something went wrong', broke, 'send the request identifier'],
  [
    start,
    'nothing is ready',
    unready,
    'is not ready',
    'The public key of bob The content of a.csv An algorithm',
    'Users add their keys',
  ],
];

describe('the console', () => {
  it('knows at least 60 mistakes', () => {
    expect(new Set(mistakes.map(([screen, done]) => `${screen} ${done}`)).size).toBeGreaterThanOrEqual(60);
  });

  it.each(mistakes)('%s: says what is wrong with %s, why, and what to do next', (_screen, _done, shown, what, why, next) => {
    expect([shown, shown, shown]).toEqual([what, why, next].map((part) => expect.stringContaining(part) as string));
  });

  it('refers to the log of a failed run only if the log may tell more', () => {
    const phases = ['Waiting for the CVM', 'Receiving the algorithm', 'Receiving the data', 'Result ready', running, 'Verifying'];
    expect(phases.filter((phase) => failed(phase).includes('the log of'))).toEqual([running]);
    const known = [
      failed(running, changedFile),
      failed(running, replaced),
      failed('Other', { reason: 'The agent got no key for a.' }),
    ];
    expect(known.filter((shown) => shown.includes('the log of'))).toEqual([]);
  });

  it.each([
    ['The CVM fell silent.', 'Receiving the data', 'The dataset'],
    ['The CVM fell silent.', 'Running the algorithm', 'The algorithm'],
    ['The agent could not fetch a.csv.', 'Receiving the data', 'not sent in time'],
    ['The agent could not fetch evidence.csv.', 'Receiving the data', 'the policy'],
  ])('names no other cause of a failed run than its reason: %s', (reason, phase, other) => {
    const shown = failed(phase, { reason });
    expect(shown).toContain(`The run failed: ${reason}`);
    expect(shown).not.toContain(other);
    expect(shown).not.toContain('not known');
  });

  it('tells of evidence that is refused by each check that failed, and by the verdict if no check tells', () => {
    expect(machine(debugged)).not.toContain('evidence');
    expect(machine({ attestation: { verdict: 'unsupported' } })).toBe('cvm-1: evidence: the evidence is unsupported');
    expect(judged({ attestation: { verdict: 'refused', checks: [...attested.checks, chain] } })).toMatchObject([
      { reasons: ['certificate chain: it ends elsewhere'] },
    ]);
    expect(machineLines([])).toEqual([expect.stringMatching(/^No CVM is registered: an administrator registers one/)]);
  });
});

it.each([
  ['a user who was seen', users('alice')],
  ['a path as certificate', pemNote('/etc/cert.pem', 'certificate')],
  ['a whole certificate', pemNote(pem('CERTIFICATE'), 'certificate')],
  ['a whole private key', pemNote(pem('EC PRIVATE KEY'), 'private key')],
  ['a measurement', measurement(hex('AB', 96))],
  ['a hash', checksumNote(hex('ab', 64))],
  ['a machine that the policy allows', judged({})[0]?.reasons.join()],
])('says nothing of %s', (_, shown) => {
  expect(shown || undefined).toBeUndefined();
});
