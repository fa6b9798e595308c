import { quotedName } from 'computation-management-formats/quoted-name';
import type { Schemas } from 'computation-management-client';
import { failedChecks } from 'computation-management-attestation/policy';

type Policy = Schemas['AttestationPolicy'];

/** A registered CVM, with the reasons why it cannot take a run of a computation now. It can if there are none. */
export type Machine = ReturnType<typeof machinesFor>[number];

/** Returns whether the evidence of a CVM was signed by a root that exists only for tests. */
export function isTestEvidence(checks: readonly { name: string }[] = []): boolean {
  return checks.some(({ name }) => name === 'test_root');
}

/** Judges registered CVMs by an attestation policy and by their presence, as far as the API shows them. The start of a run judges again. */
export function machinesFor(policy: Policy, cvms: readonly Pick<Schemas['Cvm'], 'id' | 'presence' | 'attestation'>[]) {
  return cvms.map(({ id, presence: { state, fit }, attestation }) => ({
    id,
    /** True if the evidence of the CVM is that of a test, which proves nothing. */
    isTest: isTestEvidence(attestation?.checks),
    reasons: [
      ...(state === 'connected' ? [] : ['is not connected: start its agent']),
      ...(state === 'connected' && fit === 'busy' ? ['is busy with a run: wait for its end, or stop it'] : []),
      ...(state === 'connected' && fit === 'spent' ? ['has had its run: restart its agent'] : []),
      ...(attestation === null
        ? ['sent no evidence: register its certificate, then restart its agent']
        : whyRefused(policy, attestation)),
    ],
  }));
}

function whyRefused(policy: Policy, attestation: NonNullable<Schemas['Cvm']['attestation']>): string[] {
  const { checks, connection } = attestation;
  const level = checks.find(({ name, passed }) => name === 'vmpl' && passed)?.detail;
  // The API shows the privilege level only in the words of its check.
  const vmpl = level === undefined ? null : Number(/\d+$/.exec(level)?.[0] ?? NaN);
  const verdict = { ...attestation, guest: null, vmpl, pcrs: null }; // the API does not show PCRs: the start compares them
  const failed = failedChecks([{ kind: '', verdict }], { ...policy, pcrs: null });
  return [
    ...failed.map(inWords),
    ...(connection === 'reconnected' && !policy.allow_reconnect ? ['lost the connection that attested: restart its agent'] : []),
  ];
}

/** Formats a failed check as a part of a sentence about its CVM, with measurements cut in the middle. */
function inWords({ name, detail }: { name: string; detail: string }): string {
  const short = detail.replaceAll(/([0-9a-f]{8})[0-9a-f]{80}([0-9a-f]{8})/g, '$1…$2');
  const what = name.replaceAll('_', ' ');
  return short.startsWith('it is ') ? `its ${what} is ${short.slice(6)}` : `${what}: ${short}`;
}

/** Returns what is wrong with the measurements of a policy, a sentence for each. */
export function measurementNotes(measurements: readonly string[]): string[] {
  return measurements
    .filter((each) => !/^[0-9a-f]{96}$/i.test(each))
    .map((each) => {
      const shown = quotedName(each.length > 20 ? `${each.slice(0, 20)}…` : each);
      const why = /^[0-9a-f]*$/i.test(each)
        ? `has ${each.length} hex digits${each.length === 64 ? ', as a SHA-256 has' : ''}`
        : 'has other characters than 0-9 and a-f';
      return `${shown} ${why}. A measurement has 96 hex digits: copy it whole from the page of a CVM, or from who built the image.`;
    });
}
