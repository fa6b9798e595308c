import { readFileSync } from 'node:fs';
import { parseCertificates } from 'computation-management-attestation';
import * as v from 'valibot';
import { addCollateral } from '../../shared/attestation/index.ts';
import { isMain, parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { openHere, openStage } from './maintain-index.ts';

const usage = `Usage: npm run collateral -- add FILE... --stage STAGE | --data DIR

Adds what the service needs to verify attestation evidence, and evidence may lack. The service itself calls no vendor.
A CVM is verified by it from the next start of its agent.

  FILE           AMD certificates (VCEK, VLEK or those above them) in PEM or DER, or Intel's collateral of a platform family in JSON,
                 as dcap-qvl and Intel's QuoteCollateral have it
  --stage STAGE  on AWS, with the credentials of the environment
  --data DIR     in the directory of a service on this machine, which must not run. With DYNAMODB_ENDPOINT, no directory is needed.`;

const json = v.pipe(v.string(), v.parseJson());

const collateral = v.object({
  root_ca_crl: v.string(),
  pck_crl: v.string(),
  tcb_info_issuer_chain: v.string(),
  tcb_info: v.pipe(
    v.string(),
    v.check((text) => v.is(json, text)),
  ),
  tcb_info_signature: v.string(),
  qe_identity_issuer_chain: v.string(),
  qe_identity: v.string(),
  qe_identity_signature: v.string(),
});

/**
 * Runs `npm run collateral`, which adds certificates and collateral for the verification of attestation evidence. @throws
 * UsageError for a mistake in the arguments; Error for a file that is neither a certificate nor collateral
 */
export async function collateralCommand(args: string[]): Promise<void> {
  const [action, ...rest] = args;
  const firstOption = rest.findIndex((each) => each.startsWith('-'));
  const files = firstOption === -1 ? rest : rest.slice(0, firstOption);
  const options = parseOptions(action?.startsWith('-') ? args : rest.slice(files.length), {
    stage: { type: 'string' },
    data: { type: 'string' },
  });
  if (action !== 'add') throw new UsageError('The first argument must be add.');
  if (files.length === 0) throw new UsageError('Expected a file.');
  const read = files.map((file) => ({ file, ...contentOf(file) }));
  const { table, close } = options.stage === undefined ? await openHere(options.data) : await openStage(options.stage);
  try {
    for (const { file, ...content } of read) {
      await addCollateral(table, content);
      process.stdout.write(`Added the ${content.kind} ${file}.\n`);
    }
  } finally {
    await close();
  }
}

if (isMain(import.meta)) await runCommand(usage, collateralCommand);

function contentOf(file: string) {
  const content = readFileSync(file);
  const parsed = v.safeParse(v.pipe(json, collateral), content.toString());
  if (parsed.success) return { kind: 'collateral' as const, content: Buffer.from(JSON.stringify(parsed.output)) };
  try {
    parseCertificates(content); // what the verifier cannot read would keep it from judging anything
    return { kind: 'certificate' as const, content };
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new Error(`${file} is neither a certificate nor the collateral of a platform family${why}.`, { cause });
  }
}
