import type { SnpTcb } from './snp-report.ts';
import type { Check, Verdict } from './verdict.ts';
import type { TdxTcb } from './verify-tdx.ts';

export interface AttestationPolicy {
  platforms: readonly string[];
  /**
   * The allowed measurements of the guest, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0,
   * RTMR1 and RTMR2.
   */
  measurements: readonly string[];
  /** The values that PCRs of a vTPM must have: 64 hex digits by the number of the PCR, `0` to `23`. Null demands none. */
  pcrs: { sha256: Readonly<Record<string, string | undefined>> } | null;
  /** The highest privilege level, 0 to 3, from which an SNP guest may have asked for its report. */
  vmpl: number;
  /** The least security versions of an SNP machine's firmware. Null demands none. */
  minimum_tcb: (Omit<SnpTcb, 'fmc'> & { fmc?: number | null }) | null;
  /** Intel's statuses of the versions of a TDX machine that are allowed, such as `UpToDate`. */
  accepted_tcb_statuses: readonly string[];
  /** Intel's advisories about the versions of a TDX machine that are allowed. */
  accepted_advisories: readonly string[];
  allow_debug: boolean;
}

/** The verdict on some evidence, wherever it is kept: a policy judges it by these members. */
export type JudgedVerdict = Omit<Verdict, 'token_hash'>;

/** An attestation token of an agent process: its kind as the agent named it, and its verdict, null while it has none. */
export interface JudgedToken {
  kind: string;
  verdict: JudgedVerdict | null;
}

/**
 * Checks the verdict on some evidence against an attestation policy, which is satisfied if all returned checks pass. Evidence
 * that is refused only for what the policy expressly allows (debugging, a status of Intel) satisfies it.
 */
export function checkPolicy(verdict: JudgedVerdict, policy: AttestationPolicy): Check[] {
  const { platform, measurement } = verdict;
  const { platforms, measurements, allow_debug } = policy;
  const failed = verdict.checks.filter(({ passed }) => !passed).map(({ name }) => name);
  const ofPlatform = checksOfPlatform[platform]?.flatMap((check) => check(verdict, policy)) ?? [];
  const accepted = [
    ...(allow_debug ? ['debug'] : []),
    ...ofPlatform.filter(({ name, passed }) => name === 'tcb_status' && passed).map(({ name }) => name),
  ];
  const others = failed.filter((name) => !accepted.includes(name));
  const isVerified = verdict.verdict === 'verified' && failed.length === 0;
  const isRefusedForThese = verdict.verdict === 'refused' && failed.length > 0 && others.length === 0;
  const forbidsDebug = !failed.includes('debug') && verdict.checks.some(({ name }) => name === 'debug');
  const isForbidden = forbidsDebug ? 'the host may not' : 'nothing proves that the host may not';
  const proves = failed.includes('debug') ? 'the host may' : isForbidden;
  const details = {
    evidence: `the evidence is ${verdict.verdict}${failed.length === 0 ? '' : `: ${failed.join(', ')} failed`}`,
    platform: `it is ${platform}, the policy allows ${platforms.join(', ')}`,
    measurement: `it is ${measurement ?? 'not proven'}, the policy allows ${measurements.join(', ')}`,
    debug: `${proves} debug the guest, the policy ${allow_debug ? 'allows' : 'forbids'} debugging`,
  };
  return [
    { name: 'evidence', passed: isVerified || isRefusedForThese, detail: details.evidence },
    { name: 'platform', passed: platforms.includes(platform), detail: details.platform },
    { name: 'measurement', passed: measurement !== null && measurements.includes(measurement), detail: details.measurement },
    { name: 'debug', passed: allow_debug || forbidsDebug, detail: details.debug },
    ...ofPlatform,
  ];
}

/**
 * Returns whether policies judge a token: every token but Microsoft's own on Azure, which neither satisfies nor blocks. The kind alone
 * does not make a token one of Microsoft, because the agent names the kind.
 */
export const isJudged = ({ kind, verdict }: { kind: string; verdict: Pick<JudgedVerdict, 'verdict' | 'platform'> | null }) =>
  kind !== 'azure' || verdict?.verdict !== 'unsupported' || verdict.platform !== 'azure';

/**
 * The most attestation tokens of one agent process that satisfy a policy. A fifth one that is kept shows that there were more, which
 * nobody judged.
 */
export const mostTokens = 4;

/**
 * Judges the attestation tokens of one agent process: for the gate of the service, its evidence, and the verifier. Each token that
 * `isJudged` must have a verdict and satisfy the policy. More than `mostTokens` never do.
 * @returns the failed checks of all tokens, empty if the policy is satisfied
 */
export function failedChecks(tokens: readonly JudgedToken[], policy: AttestationPolicy): Check[] {
  // defence
  if (tokens.length > mostTokens)
    return [{ name: 'tokens', passed: false, detail: `the agent process sent more than ${mostTokens}, so not all are judged` }];
  const judged = tokens.filter(isJudged);
  if (judged.length === 0) return [{ name: 'evidence', passed: false, detail: 'there is none, and the policy demands it' }];
  return judged.flatMap(({ verdict }) => {
    if (verdict === null)
      return [{ name: 'evidence', passed: false, detail: 'a token is not verified, and the policy demands it' }];
    const ofPolicy = checkPolicy(verdict, policy);
    if (ofPolicy.every(({ passed }) => passed)) return []; // defence
    // What a check of the policy judges is told once, with both sides.
    const others = verdict.checks.filter(({ name }) => !ofPolicy.some((each) => each.name === name));
    return [...others, ...ofPolicy].filter(({ passed }) => !passed);
  });
}

/**
 * Checks the PCRs that a policy names, also of evidence that has none: a machine without a vTPM does not satisfy such a policy.
 * @returns no check for a policy without PCRs
 */
function checkPcrs({ pcrs }: JudgedVerdict, { pcrs: demanded }: AttestationPolicy): Check[] {
  if (demanded === null) return [];
  const wrong = Object.entries(demanded.sha256).filter(([number, value]) => pcrs?.[number] !== value);
  const shownIn = (number: string) => pcrs?.[number] ?? 'not proven';
  const details = wrong.map(([number, value]) => `PCR ${number} is ${shownIn(number)}, the policy demands ${value}`);
  const detail = details.join(', ') || 'the PCRs are those that the policy demands';
  return [{ name: 'pcrs', passed: wrong.length === 0, detail }];
}

const components = ['bootloader', 'tee', 'snp', 'microcode', 'fmc'] as const;

function checkSnp({ tcb, vmpl }: JudgedVerdict, { minimum_tcb, vmpl: highest }: AttestationPolicy): Check[] {
  const ofLevel = `it is ${vmpl ?? 'not proven'}, the policy allows ${highest === 0 ? '0' : `0 to ${highest}`}`;
  const level = { name: 'vmpl', passed: vmpl !== null && vmpl <= highest, detail: ofLevel }; // defence
  if (minimum_tcb === null) return [level];
  const versions = (tcb ?? {}) as Partial<Record<(typeof components)[number], number>>;
  const older = components.filter((name) => {
    const least = minimum_tcb[name] ?? null;
    return least !== null && !((versions[name] ?? -1) >= least);
  });
  const details = older.map(
    (name) => `${name} is ${versions[name] ?? 'not proven'}, the policy demands ${minimum_tcb[name] ?? ''} or more`,
  );
  const detail = details.join(', ') || 'all versions are those that the policy demands, or newer';
  return [level, { name: 'minimum_tcb', passed: older.length === 0, detail }];
}

/**
 * Checks Intel's status of a TDX machine and Intel's advisories about its versions. Intel's description of TCB Info says that
 * advisories explain a status other than `UpToDate`. A level with that status can have some too, such as INTEL-DOC-10000, which
 * says that Intel no longer services the processor. So the advisories of each status must be allowed, those of `UpToDate` as well.
 */
function checkTdx(verdict: JudgedVerdict, policy: AttestationPolicy): Check[] {
  const { accepted_tcb_statuses: statuses, accepted_advisories } = policy;
  const { status, advisories } = (verdict.tcb ?? {}) as Partial<TdxTcb>;
  const others = advisories?.filter((each) => !accepted_advisories.includes(each));
  const ofStatus = `it is ${status ?? 'not proven'}, the policy allows ${statuses.join(', ') || 'none'}`;
  const allowed = accepted_advisories.join(', ') || 'none';
  const ofAdvisories = `it has ${advisories?.join(', ') ?? 'not proven which'}, the policy allows ${allowed}`;
  return [
    { name: 'tcb_status', passed: status !== undefined && statuses.includes(status), detail: ofStatus },
    { name: 'advisories', passed: others?.length === 0, detail: ofAdvisories },
  ];
}

/** The rules of a policy that are about the evidence of a platform. A platform that is not listed satisfies no policy. */
const checksOfPlatform: Partial<Record<string, ((verdict: JudgedVerdict, policy: AttestationPolicy) => Check[])[]>> = {
  snp: [checkSnp, checkPcrs],
  tdx: [checkTdx, checkPcrs],
  'snp-vtpm': [checkSnp, checkPcrs],
  'az-snp-vtpm': [checkSnp, checkPcrs],
  'az-tdx-vtpm': [checkTdx, checkPcrs],
};
