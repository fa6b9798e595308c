import { writeFile } from 'node:fs/promises';
import { type Check, nothingToCompare, type Verdict } from 'computation-management-attestation';
import { printable } from 'computation-management-formats/printable';
import { type AgentOptions, freshVerdict, readKnownRun } from '../agent/right-agent.ts';
import { openRightAgentSoon, sendFiles, type SendOptions } from '../agent/send-files.ts';
import { computationId } from '../context/computation-reference.ts';
import type { Context } from '../context/context.ts';
import { readBytes, type Material, materialFrom, verifierFor } from '../files/read-file.ts';
import { type ExitCode, exitCodes, UsageError } from '../terminal/cms-error.ts';
import type { CmsCommand } from './options.ts';

export function addAgentCommands(program: CmsCommand): void {
  program
    .subcommand('send', 'send your files to the agent of a run, when it waits for them')
    .argument('<FILE...>', 'the algorithm or datasets of the manifest')
    .requiredOption('--key <FILE>', 'your private key, whose public key is in the manifest')
    .option('--computation <COMPUTATION>', 'its identifier or name')
    .option('--run <RUN>', 'the run (default: the latest)')
    .sendOptions()
    .connected(async (context, files: string[], { computation, ...options }: SendOptions & { computation?: string }) => {
      const id = await computationId(context, computation);
      const result = await sendFiles(context, id, { ...options, files });
      context.print(result, () => '');
    });

  program
    .subcommand('attest', 'judge the evidence of the agent of a run, or saved evidence, without the service')
    .argument('[FILE...]', 'tokens, SEV-SNP reports or TDX quotes')
    .option('--computation <COMPUTATION>', 'its identifier or name')
    .option('--run <RUN>', 'the run (default: the latest)')
    .option('--nonce <HEX>', 'the nonce that saved evidence must contain, 32 to 64 bytes')
    .excluding('--bound-to <FILE>', 'the certificate whose hash saved evidence must contain', 'nonce')
    .option('--output <FILE>', 'where to save the token of the agent')
    .agentOptions()
    .does(async (context, files: string[], options: AttestOptions) => {
      if (files.length === 0 && (options.nonce ?? options.boundTo) !== undefined)
        throw new UsageError('--nonce and --bound-to are for saved evidence: give its file too.');
      if (files.length === 0) await attestAgent(context, options);
      else await attestFiles(context, files, options);
    });
}

interface AttestOptions extends AgentOptions {
  computation?: string;
  nonce?: string;
  boundTo?: string;
  output?: string;
}

const unbound = 'genuine, bound to nothing';

/** A verdict as `cms attest` says it of files: evidence that fails only for want of something to compare it with is no forgery. */
type Said = Omit<Verdict, 'verdict'> & { verdict: Verdict['verdict'] | typeof unbound };

const codes: Record<Said['verdict'], ExitCode> = {
  verified: exitCodes.success,
  refused: exitCodes.refused,
  unsupported: exitCodes.unsupported,
  [unbound]: exitCodes.unbound,
};

function unboundOr(judged: Verdict): Said {
  const failed = judged.checks.filter(({ passed }) => !passed);
  const isUnbound = failed.length > 0 && failed.every(({ detail }) => detail === nothingToCompare);
  return isUnbound ? { ...judged, verdict: unbound } : judged;
}

async function attestAgent(context: Context, options: AttestOptions): Promise<void> {
  const session = await context.connect();
  const id = await computationId(session, options.computation);
  const read = await readKnownRun(session, id, options);
  // The evidence is what is asked for, so it need not satisfy a policy before.
  const configuration = { ...read.configuration, attestation_policy: null };
  const agent = await openRightAgentSoon(session, { ...read, configuration }, { ...options, unbound: true });
  try {
    const { verdict, checks, token } = await freshVerdict(agent, read, options);
    if (options.output !== undefined) await writeFile(options.output, token, { flag: 'wx' });
    context.print({ ...verdict, run: read.run.id, policy: checks }, () => textOf(verdict) + checksText('policy: ', checks));
    const isSatisfied = checks.length > 0 && checks.every(({ passed }) => passed);
    const isRefused = checks.length > 0 && verdict.verdict === 'verified';
    context.exitWith(isSatisfied ? exitCodes.success : isRefused ? exitCodes.refused : codes[verdict.verdict]);
  } finally {
    agent.close();
  }
}

async function attestFiles(context: Context, files: string[], options: AttestOptions): Promise<void> {
  const items: (Said & { file: string })[] = [];
  for (const file of files) items.push({ file, ...unboundOr(await judge(await readBytes(file), options)) });
  context.print({ items }, () => items.map((item) => `${printable(item.file)}\n${textOf(item)}`).join('\n'));
  const worst = (['refused', 'unsupported', unbound] as const).find((each) => items.some(({ verdict }) => verdict === each));
  context.exitWith(codes[worst ?? 'verified']);
}

const snpReportSize = 1184;

async function judge(evidence: Buffer, options: AttestOptions & Material): Promise<Verdict> {
  const given = { ...(await materialFrom(options)), boundTo: await bindingIn(options), now: new Date() };
  const isQuote = evidence.length > 8 && [4, 5].includes(evidence.readUInt16LE(0)) && evidence.readUInt32LE(4) === 0x81;
  const verifier = await verifierFor(options);
  if (isQuote) return await verifier.verifyTdxQuote(evidence, given);
  return await (evidence.length === snpReportSize
    ? verifier.verifySnpReport(evidence, given)
    : verifier.verifyToken(evidence, given));
}

async function bindingIn({ nonce, boundTo }: AttestOptions) {
  if (boundTo !== undefined) return { certificate: await readBytes(boundTo) };
  if (nonce === undefined) return null;
  if (/^([0-9a-f]{2}){32,64}$/i.test(nonce) && !/^0+$/.test(nonce)) return { nonce: Buffer.from(nonce, 'hex') };
  throw new UsageError('--nonce: expected 64 to 128 hex digits, not all zero.');
}

function textOf({ verdict, platform, measurement, checks }: Said): string {
  return `${verdict}: ${printable(platform)}${measurement === null ? '' : `, measurement ${measurement}`}\n${checksText('', checks)}`;
}

function checksText(prefix: string, checks: Check[]): string {
  return checks
    .map(({ name, passed, detail }) => `  ${passed ? 'passed' : 'FAILED'}  ${prefix}${name}: ${printable(detail)}\n`)
    .join('');
}
