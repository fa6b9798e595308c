import * as v from 'valibot';
import { mostTokens } from 'computation-management-attestation/policy';
import { arrayOf, described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import { verdicts } from 'computation-management-formats/attestation';

const check = namedObject('AttestationCheck', 'A check of attestation evidence.', {
  name: shownText(60, 'The name of the check.'),
  passed: described(v.boolean(), 'Whether it passed.'),
  detail: shownText(1_000, 'What was found, or why the check failed.'),
});

export const checksSchema = v.pipe(v.array(check), v.metadata({ maxItems: 40 }));

const version = (what: string) =>
  v.pipe(v.number(), v.integer(), v.description(`The version of ${what}.`), v.metadata({ maximum: 255 }));

const snpTcb = namedObject('SnpTcb', 'The versions of the firmware of an SNP machine.', {
  fmc: v.optional(version('the FMC, which Turin alone has')),
  bootloader: version('the bootloader'),
  tee: version('the TEE'),
  snp: version('the SNP firmware'),
  microcode: version('the microcode'),
});

const tdxTcb = namedObject('TdxTcb', 'The versions of a TDX machine.', {
  status: shownText(60, 'What Intel says of the versions, such as `UpToDate`.'),
  tee_tcb_svn: shownText(64, 'The versions of the TDX module and its parts, in hex.'),
  advisories: arrayOf(shownText(60), 100, "Intel's security advisories about these versions."),
});

export const attestationSchema = namedObject(
  'Attestation',
  'What the service found in the attestation evidence of an agent process.',
  {
    platform: shownText(
      60,
      '`snp`, `tdx`, `snp-vtpm`, `az-snp-vtpm`, `az-tdx-vtpm`, or the name of a platform that is not supported.',
    ),
    verified_at: described(timestamp, 'When the service verified the evidence.'),
    verdict: described(
      v.picklist(verdicts),
      '`verified`: all checks passed. `refused`: at least one failed. `unsupported`: the service cannot verify this kind of evidence.',
    ),
    checks: described(checksSchema, 'Every check, with what was found.'),
    measurement: orNull(shownText(96), 'What the CVM booted, 96 hex digits. null unless its signature holds.'),
    tcb: orNull(v.union([snpTcb, tdxTcb]), 'The versions of firmware and microcode. null unless the signature holds.'),
    token_hash: shownText(64, 'The SHA-256, hex, of the token that was verified.'),
  },
);

/** The stored form of an attestation: what answers show, and what only policies and the claim of a guest need. */
export const storedAttestation = v.object({
  ...attestationSchema.entries,
  /** The REPORT_ID of an SNP guest, hex. Null elsewhere. */
  guest: v.nullable(v.string()),
  /** The privilege level from which an SNP guest asked for its report. Null elsewhere. */
  vmpl: v.nullable(v.number()),
  /** The PCRs of a vTPM, 64 hex digits each, by their number. Null elsewhere. */
  pcrs: v.nullable(v.record(v.string(), v.string())),
});
export type Attestation = v.InferOutput<typeof storedAttestation>;

/**
 * The most attestation tokens that the service keeps of one agent process: as many as may satisfy a policy, and one that shows that there
 * were more.
 */
export const mostKeptTokens = mostTokens + 1;
