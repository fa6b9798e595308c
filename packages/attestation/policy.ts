import type { SnpTcb } from './snp-report.ts';
import type { Check, Verdict } from './verdict.ts';

export interface AttestationPolicy {
  platforms: readonly string[];
  /**
   * The allowed measurements of the guest, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0,
   * RTMR1 and RTMR2.
   */
  measurements: readonly string[];
  /** The least security versions of an SNP machine's firmware. Null demands none. */
  minimum_tcb: SnpTcb | null;
  allow_debug: boolean;
}

/**
 * Checks the verdict on some evidence against an attestation policy, which is satisfied if all returned checks pass. Evidence
 * that is refused only because it allows debugging satisfies a policy that allows debugging.
 */
export function checkPolicy(verdict: Omit<Verdict, 'token_hash'>, policy: AttestationPolicy): Check[] {
  const failed = verdict.checks.filter(({ passed }) => !passed).map(({ name }) => name);
  const debug = failed.includes('debug');
  const forbidsDebug = !debug && verdict.checks.some(({ name, passed }) => name === 'debug' && passed);
  const onlyDebug = verdict.verdict === 'refused' && failed.length > 0 && failed.every((name) => name === 'debug');
  const { platform, measurement } = verdict;
  const checks = [
    {
      name: 'evidence',
      passed: verdict.verdict === 'verified' || (onlyDebug && policy.allow_debug),
      detail:
        failed.length === 0
          ? `the evidence is ${verdict.verdict}`
          : `the evidence is ${verdict.verdict}: ${failed.join(', ')} failed`,
    },
    {
      name: 'platform',
      passed: policy.platforms.includes(platform),
      detail: `it is ${platform}, allowed: ${policy.platforms.join(', ')}`,
    },
    {
      name: 'measurement',
      passed: measurement !== null && policy.measurements.includes(measurement),
      detail: measurement === null ? 'no measurement is proven' : `it is ${measurement}`,
    },
    {
      name: 'debug',
      passed: policy.allow_debug || forbidsDebug,
      detail: debug
        ? 'the host may debug the guest'
        : policy.allow_debug
          ? 'debugging is allowed'
          : forbidsDebug
            ? 'the host may not debug the guest'
            : 'nothing proves that the host may not debug the guest',
    },
  ];
  return platform === 'snp' && policy.minimum_tcb !== null ? [...checks, checkTcb(verdict.tcb, policy.minimum_tcb)] : checks;
}

/**
 * Judges the attestation tokens of one agent process by their verdicts: one must satisfy the policy, and none may be refused,
 * except for debugging that the policy allows.
 * @returns the failed checks of the token that decides, empty if the policy is satisfied
 */
export function failedChecks(verdicts: readonly Omit<Verdict, 'token_hash'>[], policy: AttestationPolicy): Check[] {
  const judged = verdicts.map((verdict) => {
    const ofPolicy = checkPolicy(verdict, policy);
    return {
      failed: [...verdict.checks, ...ofPolicy].filter(({ passed }) => !passed),
      isSatisfied: ofPolicy.every(({ passed }) => passed),
      isRefused: verdict.verdict === 'refused' && ofPolicy.some(({ name, passed }) => name === 'evidence' && !passed),
    };
  });
  const refused = judged.find(({ isRefused }) => isRefused);
  if (!refused && judged.some(({ isSatisfied }) => isSatisfied)) return [];
  return (refused ?? judged[0])?.failed ?? [{ name: 'evidence', passed: false, detail: 'there is none' }];
}

function checkTcb(tcb: unknown, minimum: SnpTcb): Check {
  const versions = (typeof tcb === 'object' && tcb !== null ? tcb : {}) as Partial<SnpTcb>;
  const components = ['bootloader', 'tee', 'snp', 'microcode'] as const;
  const older = components.filter((name) => !((versions[name] ?? -1) >= minimum[name]));
  const detail = (name: (typeof components)[number]) => `${name} is ${versions[name] ?? 'unknown'}, not ${minimum[name]} or more`;
  return {
    name: 'minimum_tcb',
    passed: older.length === 0,
    detail: older.length === 0 ? 'all versions are new enough' : older.map(detail).join(', '),
  };
}
