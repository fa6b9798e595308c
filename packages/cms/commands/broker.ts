import { type JsonWebKey, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { certificatesIn } from 'computation-management-attestation';
import { causeOf, fetchToken, pause, type Schemas, ServiceProblem } from 'computation-management-client';
import { hashOfBytes } from 'computation-management-formats/digests';
import { thumbprintOf } from 'computation-management-formats/es256';
import { printable } from 'computation-management-formats/printable';
import { parseAttestRequest, Refused, sealForTee, teeThumbprint, tokenOfEvidence } from 'computation-management-key-release';
import { checkAuthorization, exitCodeOf, type OwnApproval, type OwnKnowledge } from 'computation-management-verify';
import * as v from 'valibot';
import { isOf } from '../context/computation-reference.ts';
import type { Context, Session } from '../context/context.ts';
import { appendDecision, type Decision, readDecisions } from '../files/decision-log.ts';
import { readFileKey } from '../files/encrypt-file.ts';
import { type Material, materialFrom, verifierFor } from '../files/read-file.ts';
import type { Profile } from '../profile/profile.ts';
import { CmsError, errorOf } from '../terminal/cms-error.ts';
import { type CmsCommand, wholeNumber } from './options.ts';

interface Options extends Material {
  trustServiceForManifest?: boolean;
  releasesPerRun: number;
  evidenceKey?: string;
}

type Asked = Schemas['AskedKeys']['releases'][number];

/** The most releases of a key to the CVM of one run, as for keys that the service holds. */
const usualReleases = 4;
const waitInSeconds = 20;
const pauseInMilliseconds = 500;

export function addBrokerCommand(program: CmsCommand): void {
  program
    .subcommand('broker', 'release the keys of your encrypted files to the CVMs of runs that you approved here, until Ctrl-C')
    .option(
      '--trust-service-for-manifest',
      'believe the service which manifest a machine has, where its evidence does not say it',
    )
    .option('--releases-per-run <COUNT>', 'the most releases of a key to one run', wholeNumber(1), usualReleases)
    .option('--evidence-key <THUMBPRINT>', 'the key with which the service signs (default: that of the first use)')
    .repeatable('--collateral <FILE>', 'documents of Intel, for TDX')
    .materialOptions()
    .connected(async (context, options: Options) => {
      const log = logOf(context);
      const earlier = await readDecisions(log);
      const { keys = {} } = await recordsOf(context);
      await trustedKey(context, options);
      const [files, decisions] = [Object.keys(keys).length, earlier.length];
      context.note(`Keeping the keys of ${files} files, and each decision in ${log} (${decisions} so far).\n`);
      const trust = 'You trust the service for which manifest a machine has, where its evidence does not say it.\n';
      const demand = 'A machine whose evidence does not name its manifest gets no key.\n';
      context.note(options.trustServiceForManifest === true ? trust : demand);
      const isStopped = () => context.terminal.signal.aborted;
      while (!isStopped()) {
        const nonce = randomBytes(32).toString('base64url');
        try {
          const { releases } = await context.client.listReleases({ nonce, wait: waitInSeconds });
          for (const asked of releases) await answer(context, options, { asked, nonce });
        } catch (error) {
          if (isStopped()) break;
          if (!isPassing(error)) throw error;
          context.outages.began({ detail: causeOf(error) });
        }
        await pause(pauseInMilliseconds, context.terminal.signal).catch(() => undefined);
      }
    });
}

/** Returns whether an error is one of a service that is away for a while, and not one of this user or machine. */
function isPassing(error: unknown): boolean {
  if (error instanceof ServiceProblem) return error.status >= 500 || [404, 409, 429].includes(error.status);
  return !(error instanceof CmsError);
}

const logOf = ({ profiles, profileName }: Context) =>
  join(dirname(profiles.file), 'broker', `${encodeURIComponent(profileName)}.jsonl`);

/** Reads what this machine keeps for the user of a connection. @throws CmsError without a login on this machine */
async function recordsOf(session: Session): Promise<Profile> {
  const profile = await session.profiles.read(session.profileName);
  if (isOf(session, profile)) return profile;
  const message = 'A broker needs a login on this machine: what it may release is kept with the login.';
  throw errorOf('notLoggedIn', message, 'cms login --help');
}

/**
 * Returns the public key of the service that this user trusts: the one of the first use, or the one that an option names.
 * @throws CmsError if the service does not publish it any more
 */
export async function trustedKey(
  context: Session,
  { evidenceKey }: { evidenceKey?: string } = {},
): Promise<OwnKnowledge['serviceKey']> {
  const { keys } = await context.client.jwks();
  const published = keys.filter((key) => v.is(ecKey, key)).map((key) => ({ key, name: thumbprintOf(key) }));
  const trusted = evidenceKey ?? (await recordsOf(context)).evidence_key ?? published.at(0)?.name ?? '';
  const found = published.find(({ name }) => name === trusted);
  if (!found) {
    const others = published.map(({ name }) => name).join(', ');
    const message = `The service does not publish the key ${printable(trusted)} that you trust, but ${others || 'none'}. Compare it with other parties before you trust another.`;
    throw errorOf('refused', message, 'cms broker --evidence-key THUMBPRINT');
  }
  await context.profiles.change(context.profileName, (stored) =>
    isOf(context, stored) && stored.evidence_key !== trusted ? { ...stored, evidence_key: trusted } : stored,
  );
  context.note(`You trust the key ${trusted} of ${context.server}. Compare it with other parties.\n`);
  return found.key;
}

const ecKey = v.object({ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string() });

interface Request {
  asked: Asked;
  /** The nonce that the broker sent with its question. */
  nonce: string;
}

/** Decides about a request for a key, logs the decision, and answers. */
async function answer(context: Session, options: Options, { asked, nonce }: Request): Promise<void> {
  const { id, asset, run, authorization, evidence } = asked;
  const records = await recordsOf(context);
  const judged = await judge(context, options, { asked, nonce }, records).catch((error: unknown): Refusal => {
    if (error instanceof Refused) return { reason: error.message };
    return {
      reason: `It could not be checked: ${causeOf(error)}`,
      told: 'The broker could not check the request. Its user can read why.',
    };
  });
  const release = 'reason' in judged ? undefined : judged;
  const stated = v.safeParse(ofApprovals, authorization);
  const mine = stated.success ? stated.output.statement.approvals.find(({ user }) => user === context.user) : undefined;
  const made = await appendDecision(logOf(context), async (before) => {
    const base = {
      at: new Date(context.terminal.now()).toISOString(),
      release: id,
      asset,
      run,
      approval_id: mine?.approval_id ?? null,
      use: mine?.use ?? null,
      tee_key: release ? teeThumbprint(release.teeKey) : '',
      nonce,
      authorization,
      evidence: hashOfBytes(Buffer.from(evidence)),
    };
    const now = await recordsOf(context);
    const isChanged = !isDeepStrictEqual([now.approved, now.keys], [records.approved, records.keys]);
    const changed = isChanged ? 'Your approval or key was just changed.' : undefined;
    const reason = 'reason' in judged ? judged.reason : (changed ?? overLimit(base, before, options, judged.approval));
    return { ...base, reason: reason ?? '', decision: reason === undefined ? 'released' : 'refused' };
  });
  const { decision, reason } = made;
  const isReleased = decision === 'released';
  const said = `${isReleased ? 'Released' : 'Refused'} the key of ${asset} for the run ${run}${isReleased ? '.' : `: ${reason}`}`;
  context.print({ decision, reason, asset, run, release: id }, () => `${printable(said)}\n`);
  const refusal = printable('told' in judged ? judged.told : reason).slice(0, 1_000);
  const body = isReleased && release ? { jwe: sealForTee(release.secret, release.teeKey) } : { refusal };
  await context.client.answerRelease({ id, body });
}

/** The reason of a refusal, and what the service is told if that is private to this machine. */
type Refusal = { reason: string } | { reason: string; told: string };

/** The parts that the release of a key needs. */
interface Release {
  secret: Buffer;
  teeKey: JsonWebKey;
  approval: OwnApproval;
}

/** Checks everything about a request but the limits. Returns the key to release. @throws Refused with the reason of a refusal; any other error */
async function judge(
  context: Session,
  options: Options,
  { asked, nonce }: Request,
  { approved = {}, keys = {} }: Profile,
): Promise<Release> {
  const { client, domain, user } = context;
  const { computation, run, token_hashes } = v.parse(named, asked.authorization.statement);
  const [record, key] = [approved[computation], keys[asked.asset]];
  if (!record) throw new Refused(`I have no approval of the computation ${computation} on the machine of my broker.`);
  if (!record.configuration) throw new Refused('My approval was kept without its configuration. I must approve again.');
  if (run !== asked.run) throw new Refused('The authorization is for another run.');
  const { tokens } = await client.getAttestation({ id: computation, run });
  const counting = tokens.filter(({ hash }) => token_hashes.includes(hash));
  const contents = await Promise.all(counting.map((token) => fetchToken(token, context.terminal.signal)));
  const request = parseAttestRequest(asked.evidence);
  const given = await materialFrom(options);
  const { verifyToken } = await verifierFor(options);
  const certificates = [...given.certificates, ...contents.flatMap((token) => certificatesIn(token))];
  const now = new Date(context.terminal.now());
  const boundTo = { nonce: request.reportData };
  const evidence = await verifyToken(tokenOfEvidence(request.evidence), { ...given, certificates, boundTo, now });
  const { configuration, ...limits } = record;
  const approval: OwnApproval = { ...limits, computation, configuration };
  const { asset, authorization } = asked;
  const serviceKey = await trustedKey({ ...context, note: () => undefined }, options);
  const trustsServiceForManifest = options.trustServiceForManifest === true;
  const findings = await checkAuthorization(
    { asset, authorization, evidence, tokens: contents, certificates, collateral: given.collateral },
    { domain, user, nonce, approval, key, now, serviceKey, trustsServiceForManifest },
    verifyToken,
  );
  const problems = findings.filter(({ verdict }) => verdict === 'does not hold' || verdict === 'not checked');
  if (exitCodeOf(findings) !== 0 || !key) throw new Refused(problems.map(({ sentence }) => sentence).join(' '));
  for (const { verdict, sentence } of findings) if (verdict === 'note') context.note(`Note: ${printable(sentence)}\n`);
  return { secret: await readFileKey(key.file), teeKey: request.teePublicKey, approval };
}

/** The part of an authorization that says for each approval of a run which one it is, and which of its runs this is, from 1. */
const ofApprovals = v.object({
  statement: v.object({
    approvals: v.array(v.object({ user: v.string(), approval_id: v.nullable(v.string()), use: v.nullable(v.number()) })),
  }),
});

/** The parts of an authorization that tell the broker which computation, run and tokens to read. It reads them first, then checks all. */
const named = v.object({
  computation: v.string(),
  run: v.string(),
  token_hashes: v.pipe(v.array(v.string()), v.maxLength(8)),
});

/** Returns why a release would be one too many, by the decisions before it. Undefined if it is not. */
function overLimit(
  { asset, run, approval_id, use }: Pick<Decision, 'asset' | 'run' | 'approval_id' | 'use'>,
  before: readonly Decision[],
  { releasesPerRun }: Options,
  { max_runs }: OwnApproval,
): string | undefined {
  const released = before.filter(({ decision }) => decision === 'released');
  if (released.filter((each) => each.asset === asset && each.run === run).length >= releasesPerRun)
    return `The key was released ${releasesPerRun} times for this run already.`;
  if (max_runs === undefined) return undefined;
  const runs = new Map(released.filter((each) => each.approval_id === approval_id).map((each) => [each.run, each.use]));
  const other = [...runs].find(([earlier, number]) => (earlier === run ? number !== use : number === use));
  if (other) return `The service gives the number ${String(use)} of my approval to two runs, or two numbers to this run.`;
  return runs.has(run) || runs.size < max_runs ? undefined : `My approval is for ${max_runs} runs, all used.`;
}
