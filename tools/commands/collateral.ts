import { readFileSync } from 'node:fs';
import { verifyCertificates, verifyCollateral } from 'computation-management-attestation';
import { collateralMembers } from 'computation-management-formats/attestation';
import * as v from 'valibot';
import { addCollateral, listCollateral, removeCollateral } from '../../shared/attestation/index.ts';
import { isMain, parseOptions, print, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { openTableOf } from './maintain-index.ts';

const usage = `Usage: npm run collateral -- add FILE... | list | remove HASH  --stage STAGE | --data DIR

Keeps what the service needs to verify attestation evidence, and evidence may lack. The service itself calls no vendor.
Each start of a run with an attestation policy uses what is there then.

  add FILE       AMD certificates (VCEK, VLEK or those above them) in PEM or DER, or Intel's collateral of a platform family in JSON,
                 as dcap-qvl and Intel's QuoteCollateral have it. Both are verified up to the root of their maker
  list           what is there, with the day on which it runs out
  remove HASH    at least 8 digits of a hash, as listed
  --stage STAGE  on AWS, with the credentials of the environment
  --data DIR     in the directory of a service on this machine, which must not run. With DYNAMODB_ENDPOINT, no directory is needed.`;

const members = ['pck_crl_issuer_chain', ...collateralMembers] as const;
const collateral = v.pipe(v.string(), v.parseJson(), v.object(v.entriesFromList(members, v.string())));

const newest = 'Next: npm run collateral -- add FILE, with the newest one of its maker';

type Document = Parameters<typeof addCollateral>[1];

/**
 * Runs `npm run collateral`, which adds, lists and removes certificates and collateral for the verification of attestation evidence.
 * @throws UsageError for a mistake in the arguments; Error for a file that does not hold
 */
export async function collateralCommand(args: string[], now = new Date()): Promise<void> {
  const [action = '', ...rest] = args;
  const firstOption = rest.findIndex((each) => each.startsWith('-'));
  const names = firstOption === -1 ? rest : rest.slice(0, firstOption);
  const options = parseOptions(action.startsWith('-') ? args : rest.slice(names.length), {
    stage: { type: 'string' },
    data: { type: 'string' },
  });
  if (!['add', 'list', 'remove'].includes(action)) throw new UsageError('The first argument must be add, list or remove.');
  if (action === 'add' && names.length === 0) throw new UsageError('Expected a file.');
  if (action === 'remove' && !names.every((hash) => /^[0-9a-f]{8,64}$/.test(hash)))
    throw new UsageError('Expected 8 to 64 digits of a hash.');
  const added = action === 'add' ? await Promise.all(names.map((file) => readFile(file, now))) : [];
  const { table, close } = await openTableOf(options);
  try {
    for (const { file, said, ...document } of added) {
      await addCollateral(table, document);
      print(`Added ${file}: ${said}.`);
    }
    if (action === 'add') return;
    const all = await listCollateral(table);
    const notValid = (error: unknown) => `NOT VALID: ${error instanceof Error ? error.message : 'it failed'}. ${newest}`;
    for (const document of action === 'list' ? all : [])
      print(`${document.hash.slice(0, 16)}  ${await describe(document, now).catch(notValid)}`);
    if (action === 'list' && all.length === 0) print('There is none. Next: npm run collateral -- add FILE');
    for (const hash of action === 'remove' ? names : []) {
      const [document, ...others] = all.filter((each) => each.hash.startsWith(hash));
      if (!document || others.length > 0)
        throw new Error(`There is ${document ? 'more than one' : 'no'} document ${hash}. Next: npm run collateral -- list`);
      await removeCollateral(table, document);
      print(`Removed ${document.hash}.`);
    }
  } finally {
    await close();
  }
}

if (isMain(import.meta)) await runCommand(usage, (args) => collateralCommand(args));

/** Reads a file, and verifies what is in it. @throws Error that names the file and what does not hold */
async function readFile(file: string, now: Date) {
  const content = readFileSync(file);
  try {
    const document: Document = /^\s*\{/.test(content.toString())
      ? { kind: 'collateral', content: Buffer.from(JSON.stringify(v.parse(collateral, content.toString()))) }
      : { kind: 'certificate', content };
    return { file, ...document, said: await describe(document, now) };
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new Error(`${file} is neither a certificate of AMD nor collateral of Intel that holds${why}. ${newest}`, { cause });
  }
}

/** Verifies a document, and says what it is and until when it is valid. @throws Error with what does not hold */
async function describe({ kind, content }: Document, now: Date): Promise<string> {
  if (kind === 'certificate') {
    const certificates = await verifyCertificates(content, now);
    return certificates.map(({ name, expires }) => `the certificate ${name}, valid until ${expires.toISOString()}`).join('; ');
  }
  const { fmspc, authority, expires } = await verifyCollateral(v.parse(collateral, Buffer.from(content).toString()), now);
  return `the collateral of the platform family ${fmspc} with the list of ${authority}, valid until ${expires.toISOString()}`;
}
