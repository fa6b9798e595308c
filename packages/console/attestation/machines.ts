import { quotedName } from 'computation-management-formats/quoted-name';
import type { Schemas } from 'computation-management-client';
import { failedChecks } from 'computation-management-attestation/policy';

type Policy = Schemas['AttestationPolicy'];

/** A registered CVM, with the reasons why it cannot take a run of a computation now. It can if there are none. */
export type Machine = ReturnType<typeof machinesFor>[number];

/** Returns whether evidence of a CVM was verified up to a root certificate that exists only for tests. Of evidence without checks: false. */
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
      ...(state === 'connected' ? [] : ['is not connected: ask its owner to start its agent']),
      ...(state === 'connected' && fit === 'busy' ? ['is busy with a run: wait for its end, or use another CVM'] : []),
      ...(state === 'connected' && fit === 'spent'
        ? ['has had its run, and an agent takes one: ask its owner to restart it']
        : []),
      ...(attestation === null
        ? ['sent no evidence: ask its owner to register its certificate, then to restart its agent']
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
    // Of evidence that is refused, each failed check says more.
    ...failed.filter(({ detail }) => failed.length === 1 || !/^the evidence is .* failed$/.test(detail)).map(inWords),
    ...(connection === 'reconnected' && !policy.allow_reconnect
      ? [
          'lost the connection that attested, so its evidence counts no more: ask its owner to restart its agent, or allow reconnects in the policy',
        ]
      : []),
  ];
}

const update = ': ask its owner to update its firmware, or use another CVM';
/** Reasons of a policy for what a CVM failed, and what its owner can do about it, by the name of the check. */
const repairs: Partial<Record<string, string>> = {
  platform: ': use a CVM of an allowed platform',
  measurement: ': ask its owner to boot an allowed image, or use another CVM',
  debug: ', because the host could then read your data: ask its owner to start it without debugging, or use another CVM',
  vmpl: ', because at others unmeasured software may ask for the report: ask its owner to fix it, or use another CVM',
  minimum_tcb: update,
  tcb_status: update,
  advisories: update,
};

/** Formats a failed check as a part of a sentence about its CVM, with measurements cut in the middle. */
function inWords({ name, detail }: { name: string; detail: string }): string {
  const short = detail.replaceAll(/([0-9a-f]{8})[0-9a-f]{80}([0-9a-f]{8})/g, '$1…$2');
  const what = name === 'vmpl' ? "report's privilege level (VMPL)" : name.replaceAll('_', ' ');
  const said = short.startsWith('it is ') ? `its ${what} is ${short.slice(6)}` : name in repairs ? short : `${what}: ${short}`;
  return `${said}${repairs[name] ?? ''}`;
}

/** Says of each of a domain's CVMs why it cannot take a run. */
export function machineLines(machines: readonly Machine[]): string[] {
  if (machines.length === 0) return ['No CVM is registered: an administrator registers one, and starts its agent.'];
  return machines.map(({ id, reasons }) => `${id}: ${reasons.join('; ')}`);
}

/** Returns what is wrong with the measurements of a policy, a sentence for each. */
export function measurementNotes(measurements: readonly string[]): string[] {
  return measurements
    .filter((each) => !/^[0-9a-f]{96}$/i.test(each))
    .map((each) => {
      const shown = `${quotedName(each.slice(0, 20))}${each.length > 20 ? '…' : ''}`;
      if (/\s/.test(each)) return `${shown} has a space in it. Put each measurement on a line of its own.`;
      const [, before] = /^(.+?)[0-9a-f]{96}$/i.exec(each) ?? [];
      if (before) return `${shown} is more than a measurement. Remove ${quotedName(before)}, and keep the 96 hex digits.`;
      const why = /^[0-9a-f]*$/i.test(each)
        ? `has ${each.length} hex digits${each.length === 64 ? ', as a SHA-256 has' : ''}`
        : 'has other characters than 0-9 and a-f';
      return `${shown} ${why}. A measurement has 96 hex digits: get it whole from who built the image, and compare it with the page of the CVM.`;
    });
}
