import { createHash } from 'node:crypto';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { exitCodeOf } from '../../../packages/verify/finding.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { coseOf, jwtOf } from '../attestation/forge-snp.ts';
import { checkEvidence, type FilesOfTest } from './check-by-test-roots.ts';
import { aToken, filesOf, genuineEvidence, hashOfToken, type StatedToken } from './genuine-evidence.ts';
import { pick, type Random, whole } from './tamperings.ts';

const otherCertificate = '-----BEGIN CERTIFICATE-----\nAAECAwQFBgc=\n-----END CERTIFICATE-----\n';

/** A machine whose token a service may have, and the truth about it, which the lab knows without the verifier. */
interface Machine {
  name: string;
  token: Uint8Array;
  isGenuine: boolean;
  certificate: string;
  measurement: string;
  debug: boolean;
  vmpl: number;
}

function machine(name: string, truth: Partial<Machine>, more: Parameters<typeof aToken>[1] = {}): Machine {
  const { certificate = certificatePem, measurement = 'ab', debug = false, vmpl = 0, isGenuine = true } = truth;
  const change = (report: Buffer) => {
    createHash('sha512').update(certificate).digest().copy(report, 0x50);
    report.fill(Number.parseInt(measurement, 16), 0x90, 0xc0);
    report.writeUInt32LE((debug ? 1 << 19 : 0) | (1 << 17) | (1 << 16), 8);
    report.writeUInt32LE(vmpl, 0x30);
  };
  const token = truth.token ?? aToken(change, more).token;
  return { name, token, isGenuine, certificate, measurement: measurement.repeat(48), debug, vmpl };
}

const machines = [
  machine('good', {}),
  machine('good, again', {}),
  machine('of another measurement', { measurement: 'cd' }),
  machine('debugged', { debug: true }),
  machine('at level 1', { vmpl: 1 }),
  machine('over another certificate', { certificate: otherCertificate }),
  machine('altered', { isGenuine: false }, { signed: (report) => void report.fill(0xab, 0x90, 0xa0).fill(0, 0xa0, 0xa1) }),
  machine('without a TEE', {
    isGenuine: false,
    token: Buffer.from(coseOf({ platform_type: 'NoCC', raw_report: Buffer.alloc(96) })),
  }),
  machine("Microsoft's", { isGenuine: false, token: Buffer.from(jwtOf({ 'x-ms-attestation-type': 'azurevm' })) }),
  machine('unreadable', { isGenuine: false, token: Buffer.from('junk') }),
];

const policies: Partial<AttestationPolicy>[] = [
  {},
  { measurements: ['ab'.repeat(48), 'cd'.repeat(48)] },
  { measurements: ['ef'.repeat(48)] },
  { platforms: ['tdx'] },
  { vmpl: 1 },
  { allow_debug: true },
  { allow_reconnect: true },
  { minimum_tcb: { bootloader: 255, tee: 0, snp: 0, microcode: 0, fmc: null } },
];

/** Returns whether a policy allows a machine, over the certificate that a statement has. */
function allows(policy: AttestationPolicy, certificate: string, { isGenuine, ...of }: Machine): boolean {
  return (
    isGenuine &&
    of.certificate === certificate &&
    policy.platforms.includes('snp') &&
    policy.measurements.includes(of.measurement) &&
    (policy.allow_debug || !of.debug) &&
    of.vmpl <= policy.vmpl &&
    (policy.minimum_tcb?.bootloader ?? 0) <= 3
  );
}

/** A statement of a service that lies about machines, and what the lab knows of the truth. */
export interface MachineLie {
  what: string;
  files: FilesOfTest;
  policy: AttestationPolicy;
  certificate: string;
  stated: Machine[];
  given: Machine[];
  /** True if the given journal has an event `Reconnected`. */
  showsReconnect: boolean;
}

const at = (second: number) => new Date(Date.parse('2025-07-17T08:00:00.000Z') + second * 1000).toISOString();
const some = <T>(list: readonly T[], random: Random, share: number) => list.filter(() => random() < share);

/** Lets the service state what it likes of one to four tokens, and gives the verifier all of them, some, none, or others. */
export function lieAboutMachines(random: Random): MachineLie {
  const isMostlyGood = random() < 0.4;
  const stated = Array.from({ length: 1 + whole(random, 4) }, () =>
    isMostlyGood && random() < 0.9 ? pick(machines.slice(0, 2), random) : pick(machines, random),
  );
  const tokens = stated.map(({ token }): StatedToken => {
    const isHonest = random() < 0.5;
    if (isHonest) return { token };
    const verdict = pick(['verified', 'refused', 'unsupported', 'not judged'], random);
    const verified_at = pick([at(0), at(1), at(4), at(-40 * 24 * 3_600), at(3_600), at(-365 * 24 * 3_600)], random);
    return {
      token,
      verdict,
      verified_at: verdict === 'not judged' ? '' : verified_at,
      kind: pick(['eat', 'azure', 'other'], random),
    };
  });
  const hashes = stated.map(({ token }) => hashOfToken(token));
  const [frozen, how] = pick<[(of: string[]) => string[] | undefined, string]>(
    [
      [(of) => of, 'frozen to fit'],
      [(of) => of, 'frozen to fit'],
      [(of) => of.slice(1), 'one more than frozen'],
      [(of) => [...of, hashOfToken(pick(machines, random).token)], 'one of the frozen hidden'],
      [() => undefined, 'nothing frozen'],
    ],
    random,
  );
  const changed = pick(policies, random);
  const reconnects = random() < 0.2;
  const certificate = random() < 0.8 ? certificatePem : otherCertificate;
  const policy = { ...strictPolicy, platforms: [...strictPolicy.platforms, 'tdx'], ...changed } as AttestationPolicy;
  const made = genuineEvidence(2, {
    tokens,
    frozen,
    configure: (configuration) => (configuration.attestation_policy = policy),
    change: (start) => (start.certificate = certificate),
    ...(reconnects && { duringRun: { event_type: 'Reconnected' } }),
  });
  const { statement } = made;
  const der = Buffer.from(certificate.replace(/-----.*?-----|\s/g, ''), 'base64');
  statement['certificate_fingerprint'] = createHash('sha256').update(der).digest('hex');
  if (random() < 0.3) Object.assign(statement['attestation'] as object, { verdict: pick(['verified', 'refused'], random) });
  if (random() < 0.1) statement['attestation'] = null;
  const given = pick(
    [stated, stated, some(stated, random, 0.5), [], [...stated, pick(machines, random)], some(machines, random, 0.3)],
    random,
  );
  const showsReconnect = reconnects && random() < 0.7;
  const { events, ...files } = filesOf({ ...made, signature: made.signed(statement), events: [...made.before, ...made.events] });
  return {
    what: `${how}, ${JSON.stringify(changed)}, states ${stated.map(({ name }, place) => `${name} as ${JSON.stringify({ ...tokens[place], token: hashes[place]?.slice(0, 6) })}`).join(' and ')}; given: ${given.map(({ name }) => name).join(', ')}`,
    files: { ...files, tokens: given.map(({ token }) => token), ...(reconnects && !showsReconnect ? {} : { events }) },
    policy,
    certificate,
    stated,
    given,
    showsReconnect,
  };
}

const isOfMicrosoft = ({ name }: Machine) => name === "Microsoft's";

/**
 * Returns what is wrong with the findings about a lie. Nothing may hold for a machine that the policy refuses, and without all tokens
 * the policy is not checked, with exit code 3, or something does not hold, with 1.
 */
export async function wronglyBelieved({
  files,
  policy,
  certificate,
  stated,
  given,
  showsReconnect,
}: MachineLie): Promise<{ wrong: string[]; exitCode: 0 | 1 | 3 }> {
  const findings = await checkEvidence(files);
  const exitCode = exitCodeOf(findings);
  const judged = stated.filter((each) => !isOfMicrosoft(each));
  const isAllowed = judged.length > 0 && judged.every((each) => allows(policy, certificate, each));
  const isWhole = stated.every(({ token }) => given.some((each) => hashOfToken(each.token) === hashOfToken(token)));
  const holds = findings.filter(({ verdict }) => verdict === 'holds').map(({ sentence }) => sentence);
  const isSatisfied = holds.includes('The evidence of the CVM satisfies the attestation policy of the run.');
  const verified = holds.flatMap((sentence) => /^The token "(\w+)" is verified as of /.exec(sentence)?.[1] ?? []);
  const isFalse = (hash: string) =>
    machines.some(
      (each) => hashOfToken(each.token) === hash && (!each.isGenuine || each.debug || each.certificate !== certificate),
    );
  const open = findings.some(({ verdict }) => verdict === 'not checked');
  return {
    exitCode,
    wrong: [
      ...(isSatisfied && !isAllowed ? ['The policy holds for a machine that it refuses.'] : []),
      ...(isSatisfied && !isWhole ? ['The policy holds although not all tokens were given.'] : []),
      ...(exitCode === 0 && !(isAllowed && isWhole) ? ['Everything holds.'] : []),
      ...(exitCode === 0 && showsReconnect && !policy.allow_reconnect
        ? ['Everything holds although the agent connected again.']
        : []),
      ...(given.length === 0 && exitCode !== 1 && !(open && exitCode === 3) ? ['Without tokens nothing is not checked.'] : []),
      ...verified.filter(isFalse).map((hash) => `The token ${hash} holds.`),
    ],
  };
}
