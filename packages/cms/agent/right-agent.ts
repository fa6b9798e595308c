import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { type Check, checkPolicy, pcrOfManifest, pcrWithManifest, type Verdict } from 'computation-management-attestation';
import type { Schemas } from 'computation-management-client';
import { type Configuration, configurationOfComputation } from 'computation-management-formats/consent';
import { isAgentUrl } from 'computation-management-formats/attestation';
import { canonicalDigest } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import { shellWord } from 'computation-management-words';
import { isOf } from '../context/computation-reference.ts';
import type { Context, Session } from '../context/context.ts';
import { readBytes, type Material, materialFrom, verifierFor } from '../files/read-file.ts';
import { CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { fetchToken } from './agent-calls.ts';
import { AgentConnection, AgentError, AnotherAgentError, unavailable } from './agent-connection.ts';

/** The options of commands that call an agent: they say which run is meant, and by what the right agent is recognized. */
export interface AgentOptions extends Material {
  run?: string;
  agent?: string;
  agentFingerprint?: string;
  agentCertificate?: string;
  clientCertificate?: string;
  clientKey?: string;
  approved?: string[];
  unbound?: boolean;
}

/** A run with the manifest and the configuration that the run was started with. The digests of both are those that the run names. */
export interface KnownRun {
  run: Schemas['Run'];
  manifest: Schemas['Manifest'];
  configuration: Configuration;
  /**
   * True if the user approved the manifest and the configuration of the run: a record on this machine says so, or the user gave the
   * digests.
   */
  isApproved: boolean;
}

/**
 * Reads a run, and checks that the run was started with what this user approved: here, by the record of `cms approve`, or elsewhere, by the
 * digests of --approved.
 * @throws CmsError if the run was started with something else, or the service contradicts itself
 */
export async function readKnownRun(
  context: Session,
  id: string,
  options: Pick<AgentOptions, 'run' | 'approved'>,
): Promise<KnownRun> {
  const { client, profile } = context;
  const run = await client.getRun({ id, run: options.run });
  const configuration = configurationOfComputation(await client.getComputation({ id }));
  const manifest = await client.getManifest({ id, run: run.id });
  const [manifest_digest, configuration_digest] = [canonicalDigest(manifest), canonicalDigest(configuration)];
  const otherwise = (message: string) =>
    errorOf('conflict', `${message} Nothing was sent.`, context.command(`manifest ${id} --run ${shellWord(run.id)}`));
  if (run.computation_id !== id || manifest.id !== id || run.id !== (options.run ?? run.id)) {
    throw otherwise('The service returned another computation or run than the one asked for.');
  }
  if (run.manifest_digest !== manifest_digest || run.configuration_digest !== configuration_digest) {
    throw otherwise('The manifest or the configuration is another one than the run was started with.');
  }
  const record = isOf(context, profile) ? profile.approved?.[id] : undefined;
  const given = options.approved?.map((digest) => digest.toLowerCase());
  for (const digest of given ? [manifest_digest, configuration_digest] : []) {
    if (!given?.includes(digest)) throw otherwise(`The run has the digest ${digest}, which --approved does not name.`);
  }
  if (record && (record.manifest_digest !== manifest_digest || record.configuration_digest !== configuration_digest)) {
    throw otherwise('The run has a manifest or a configuration that you did not approve with cms approve.');
  }
  if (record?.cvm_ids?.includes(run.cvm_id) === false || (record?.expires_at ?? '9') <= run.started_at) {
    throw otherwise('Your approval is for other CVMs, or ended before the run.');
  }
  return { run, manifest, configuration, isApproved: record !== undefined || given !== undefined };
}

const risk =
  'Without the certificate of the agent, the connection may end at someone else: whoever answers at the address that the service names, or stands between, can read all that you send, and pass it on.';

/** The commands that have printed their warning about the agent of a run: a command opens several connections, and warns once. */
const warned = new WeakSet<Context>();

/**
 * Opens a connection to the agent of a run. With an attestation policy, asks the agent for fresh evidence first.
 * @throws CmsError if the agent is not known to be the right one. Then nothing was sent but a nonce
 */
export async function openRightAgent(context: Session, known: KnownRun, options: AgentOptions): Promise<AgentConnection> {
  const { agent_config, attestation_policy } = known.configuration;
  const fingerprint = await fingerprintIn(options);
  if (fingerprint === undefined && options.unbound !== true) {
    const message = `${risk} Give --agent-fingerprint or --agent-certificate, which the owner of the CVM has.`;
    throw new UsageError(message, `${context.typed} --agent-fingerprint SHA256`);
  }
  const note = warned.has(context) ? () => undefined : context.note;
  warned.add(context);
  if (fingerprint === undefined) note(`Warning: ${risk}\n`);
  else if (agent_config.cert_file.includes('\n')) {
    note(
      'Warning: the computation has the certificate of the agent as text. If it has the private key too, the service and whoever may edit the computation can stand in for the agent. Ask the owner of the CVM for one whose key is in the CVM.\n',
    );
  }
  if (agent_config.attested_tls) {
    throw new CmsError(
      'The computation wants attested TLS, which cms does not speak. Anyone can have such an agent vouch for a key that is not its own.',
      { next: context.help },
    );
  }
  const withTls = agent_config.cert_file !== '';
  if (fingerprint !== undefined && !withTls) {
    const message = 'The agent has no certificate to compare: agent_config of the computation has no cert_file.';
    throw errorOf('conflict', message, context.help);
  }
  const { cvm_id } = known.run;
  const address = options.agent ?? (await context.client.getCvm({ cvmID: cvm_id })).agent_url;
  if (!address || !isAgentUrl(address)) {
    const message = `The address of the agent on ${cvm_id} is not known. Its owner knows it.`;
    throw errorOf('incomplete', message, `${context.typed} --agent HOST:7002`);
  }
  const agent = await AgentConnection.open({
    address,
    fingerprint,
    signal: context.terminal.signal,
    ...(withTls ? { tls: await clientIdentity(options) } : {}),
  }).catch((error: unknown) => {
    throw error instanceof AnotherAgentError
      ? errorOf('refused', `${error.message} That is not the one that you gave. Nothing was sent.`, undefined, error)
      : error;
  });
  try {
    if (attestation_policy) await demandEvidence(agent, known, options);
    return agent;
  } catch (error) {
    agent.close();
    throw error;
  }
}

async function clientIdentity({ clientCertificate, clientKey }: AgentOptions) {
  if (clientCertificate === undefined || clientKey === undefined) return {};
  return { certificate: await readBytes(clientCertificate), key: await readBytes(clientKey) };
}

/**
 * Returns the SHA-256 of the agent's certificate that the options give, lower-case hex.
 * @throws CmsError if --agent-fingerprint and --agent-certificate differ
 */
async function fingerprintIn({ agentFingerprint, agentCertificate }: AgentOptions): Promise<string | undefined> {
  const given = agentFingerprint
    ?.replace(/^sha256:/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (given !== undefined && !/^[0-9a-f]{64}$/.test(given)) {
    throw new UsageError('--agent-fingerprint: expected the SHA-256 of the certificate, 64 hex digits.');
  }
  if (agentCertificate === undefined) return given;
  const content = await readBytes(agentCertificate);
  try {
    const own = new X509Certificate(content).fingerprint256.replaceAll(':', '').toLowerCase();
    if (given === undefined || given === own) return own;
  } catch (cause) {
    throw new UsageError(`${agentCertificate} is not a certificate.`, undefined, cause);
  }
  throw new UsageError('--agent-fingerprint and --agent-certificate are of different certificates.');
}

/**
 * Asks an agent for fresh attestation evidence, with a nonce made of the run's identifier, the digest of its manifest and random bytes, and
 * verifies the evidence.
 */
export async function freshVerdict(
  agent: AgentConnection,
  { run, manifest, configuration }: KnownRun,
  options: Material,
): Promise<{ verdict: Verdict; checks: Check[]; token: Buffer }> {
  const policy = configuration.attestation_policy;
  const said = `${run.id} ${canonicalDigest(manifest)} ${randomBytes(32).toString('hex')}`;
  const nonce = createHash('sha512').update(said).digest();
  const token = await tokenOf(agent, policy?.platforms ?? ['snp', 'snp-vtpm', 'tdx', 'az-snp-vtpm'], nonce).catch(noEvidence);
  const { verifyToken } = await verifierFor(options);
  const judged = await verifyToken(token, { ...(await materialFrom(options)), boundTo: { nonce }, now: new Date() });
  const verdict = await withManifest(judged, manifest, policy?.allow_used_guest ?? false);
  return { verdict, checks: policy ? checkPolicy(verdict, policy) : [], token };
}

/** Asks an agent for a token of each of some platforms in turn, until it gives one. @throws AgentError of the last one */
async function tokenOf(
  agent: AgentConnection,
  platforms: readonly Parameters<typeof fetchToken>[1][],
  nonce: Buffer,
): Promise<Buffer> {
  const [platform = 'snp', ...others] = platforms;
  try {
    return await fetchToken(agent, platform, nonce);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code === unavailable || others.length === 0) throw error;
    return await tokenOf(agent, others, nonce);
  }
}

/**
 * Adds a check of what PCR 16 says, which the agent extends with its manifest after it has accepted a run: nothing yet, this manifest, or others.
 * Software in the machine can reset this PCR, and a TPM of the host says what the host likes: the detail says so.
 * Adds nothing to a verdict without PCRs.
 * @param mayBeUsed whether the machine may have had other manifests
 */
async function withManifest(verdict: Verdict, manifest: Schemas['Manifest'], mayBeUsed: boolean): Promise<Verdict> {
  const value = verdict.pcrs?.[pcrOfManifest];
  if (value === undefined) return verdict;
  const isEmpty = /^0+$/.test(value);
  const isThis = value === (await pcrWithManifest(manifest));
  const passed = isThis || isEmpty || mayBeUsed;
  const said = isThis
    ? 'the machine has the manifest of this run'
    : isEmpty
      ? 'the machine has no manifest yet'
      : 'the machine had another manifest';
  const limits = 'if neither software in the machine reset this PCR nor the host made up its TPM';
  const check = { name: 'manifest', passed, detail: `PCR ${pcrOfManifest}: ${said}, ${limits}` };
  return { ...verdict, verdict: passed ? verdict.verdict : 'refused', checks: [...verdict.checks, check] };
}

function noEvidence(error: unknown): never {
  if (!(error instanceof AgentError) || error.code === unavailable) throw error;
  throw errorOf('refused', `The agent gives no evidence: ${printable(error.message)}. Nothing was sent.`, undefined, error);
}

async function demandEvidence(agent: AgentConnection, known: KnownRun, options: Material): Promise<void> {
  const { verdict, checks } = await freshVerdict(agent, known, options);
  const failed = checks.filter(({ passed }) => !passed);
  if (failed.length === 0) return;
  const all = [...verdict.checks.filter(({ passed }) => !passed), ...failed];
  const reasons = all.map(({ name, detail }) => `${name}: ${printable(detail)}`).join('\n');
  throw errorOf('refused', `The evidence of the agent does not satisfy the attestation policy. Nothing was sent.\n${reasons}`);
}
