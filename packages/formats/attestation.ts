import * as v from 'valibot';
import { strictObject } from './fields.ts';

/** The platforms that policies can allow (docs/contract.md, section 15). */
export const platforms = ['az-snp-vtpm', 'az-tdx-vtpm', 'snp', 'snp-vtpm', 'tdx'] as const;
/** The machines that have each platform, in words. docs/cvm.md has them as a table. */
export const platformTexts: Record<(typeof platforms)[number], string> = {
  'az-snp-vtpm':
    'a confidential VM of AMD on Azure, whose evidence has the runtime data of its paravisor. That of the Cocos agent lacks them',
  'az-tdx-vtpm': 'a confidential VM of Intel on Azure, under the same condition',
  snp: 'AMD SEV-SNP without a vTPM: Milan, Genoa (also Bergamo and Siena), Turin',
  'snp-vtpm': 'the same with a vTPM, as the Cocos agent reports wherever there is a TPM device',
  tdx: 'Intel TDX, while the service has the documents of Intel for it',
};
/** The platforms whose evidence has PCRs of a vTPM. */
const withVtpm: readonly string[] = ['az-snp-vtpm', 'az-tdx-vtpm', 'snp-vtpm'];
export const verdicts = ['verified', 'refused', 'unsupported'] as const;
/** The verdicts that evidence can state of a token. `not judged`: the service did not verify the token. */
export const tokenVerdicts = [...verdicts, 'not judged'] as const;

/** The names of Intel's documents about a TDX machine (its collateral), as the agent's evidence names them. */
export const collateralMembers = [
  'root_ca_crl',
  'pck_crl',
  'tcb_info_issuer_chain',
  'tcb_info',
  'tcb_info_signature',
  'qe_identity_issuer_chain',
  'qe_identity',
  'qe_identity_signature',
] as const;

export const mostMeasurements = 32;

const expectedPlatforms = `Expected a list of ${platforms.join(', ')}.`;
const expectedMeasurements = `Expected 1 to ${mostMeasurements} measurements of 96 hex digits.`;
const measurement = v.pipe(
  v.string(expectedMeasurements),
  v.regex(/^[0-9a-fA-F]{96}$/, 'Expected 96 hex digits.'),
  v.toLowerCase(),
  v.metadata({ minLength: 96, maxLength: 96 }),
);

const version = (what: string) =>
  v.pipe(
    v.number('Expected a whole number from 0 to 255.'),
    v.integer('Expected a whole number from 0 to 255.'),
    v.minValue(0, 'Expected a whole number from 0 to 255.'),
    v.maxValue(255, 'Expected a whole number from 0 to 255.'),
    v.description(`The least version of ${what}, 0 to 255.`),
  );

const sorted = <Entry extends string>(entries: Entry[]): Entry[] => [...new Set(entries)].sort();

const versions = {
  bootloader: version('the bootloader'),
  tee: version('the TEE'),
  snp: version('the SNP firmware'),
  microcode: version('the microcode'),
};
const fmc = v.pipe(v.nullable(version('the FMC')), v.description('Turin: the least version of the FMC, 0 to 255. null: any.'));
const ofVersions = 'Versions of the firmware of an SNP machine.';
const ofLeast = 'The least versions of an SNP machine. null: any.';
const leastInput = v.pipe(
  strictObject({ ...versions, fmc: v.optional(fmc, null) }),
  v.title('MinimumTcbInput'),
  v.description(ofVersions),
);
const least = v.pipe(v.object({ ...versions, fmc }), v.title('MinimumTcb'), v.description(ofVersions));

/** The statuses that Intel gives to the versions of a TDX machine and that a policy can accept. */
export const tcbStatuses = [
  'ConfigurationAndSWHardeningNeeded',
  'ConfigurationNeeded',
  'OutOfDate',
  'OutOfDateConfigurationNeeded',
  'SWHardeningNeeded',
  'UpToDate',
] as const;

/** The largest number of Intel's advisories that a policy can accept. */
export const mostAdvisories = 100;

const expectedVmpl = 'Expected a whole number from 0 to 3.';
const vmpl = v.pipe(
  v.number(expectedVmpl),
  v.integer(expectedVmpl),
  v.minValue(0, expectedVmpl),
  v.maxValue(3, expectedVmpl),
  v.description(
    'SNP: the highest privilege level (VMPL) from which the guest may ask for its report, 0 to 3. Default 0. A standard Cocos machine needs 2. ' +
      'With 1 to 3, software below the measured paravisor may have asked for the report.',
  ),
);
const expectedPcrs = 'Expected {"sha256": {…}} with the numbers 0 to 23 of PCRs, and 64 hex digits for each.';
const ofPcrs =
  'The values that PCRs of a vTPM must have, in its bank of SHA-256: 64 hex digits each, by the number of the PCR. null: any.';
const pcr = v.pipe(
  v.string(expectedPcrs),
  v.regex(/^[0-9a-fA-F]{64}$/, expectedPcrs),
  v.toLowerCase(),
  v.description('The value of the PCR, 64 hex digits.'),
  v.metadata({ maxLength: 64 }),
);
const numbersOfPcrs = Array.from({ length: 24 }, (_, number) => String(number));
const bank = v.pipe(
  strictObject(v.entriesFromList(numbersOfPcrs, v.exactOptional(pcr))),
  v.check((values) => Object.keys(values).length > 0, expectedPcrs),
  v.title('PcrBank'),
  v.description('The values by the number of the PCR, `0` to `23`.'),
);
const pcrs = v.pipe(
  v.nullable(v.pipe(strictObject({ sha256: bank }), v.title('Pcrs'), v.description('Values of PCRs.'))),
  v.description(ofPcrs),
);
const flag = (what: string) => v.pipe(v.boolean('Expected true or false.'), v.description(`${what} Default \`false\`.`));
const flags = {
  allow_debug: flag('Whether the host may debug the CVM.'),
  allow_reconnect: flag('Whether a run may go on over a later connection with the same certificate than the one that attested.'),
  allow_used_guest: flag('SNP: whether a guest that accepted another run before may have the run.'),
};
const ofStatuses = "TDX: Intel's statuses of the versions that a CVM may have. Default `UpToDate` alone. Returned sorted.";
const ofAdvisories = "TDX: Intel's advisories about the versions that a CVM may have. Default none. Returned sorted.";
const expectedStatuses = `Expected a list of ${tcbStatuses.join(', ')}.`;
const expectedAdvisories = `Expected up to ${mostAdvisories} identifiers such as INTEL-SA-00837.`;
const ofPlatforms = `The platforms that a CVM may have: ${platforms.map((each) => `\`${each}\``).join(', ')}. Returned sorted.`;
const ofMeasurements =
  'The measurements that a CVM may have, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0, RTMR1 and ' +
  'RTMR2. Returned sorted, in lower case, each once.';
const ofPolicy = 'Which CVMs may run a computation. A run starts only on a CVM whose verified attestation satisfies it.';

const withoutVtpm = `Expected null, or one of ${withVtpm.join(', ')} among the platforms: others have no PCRs.`;

export const attestationPolicyInput = v.pipe(
  strictObject({
    platforms: v.pipe(
      v.array(v.picklist(platforms, expectedPlatforms), expectedPlatforms),
      v.minLength(1, expectedPlatforms),
      v.maxLength(platforms.length, expectedPlatforms),
      v.description(ofPlatforms),
      v.transform(sorted),
    ),
    measurements: v.pipe(
      v.array(measurement, expectedMeasurements),
      v.minLength(1, expectedMeasurements),
      v.maxLength(mostMeasurements, expectedMeasurements),
      v.description(ofMeasurements),
      v.transform(sorted),
    ),
    pcrs: v.optional(pcrs, null),
    vmpl: v.optional(vmpl, 0),
    minimum_tcb: v.optional(v.pipe(v.nullable(leastInput), v.description(ofLeast)), null),
    accepted_tcb_statuses: v.optional(
      v.pipe(
        v.array(v.picklist(tcbStatuses, expectedStatuses), expectedStatuses),
        v.maxLength(tcbStatuses.length, expectedStatuses),
        v.description(ofStatuses),
        v.transform(sorted),
      ),
      ['UpToDate'],
    ),
    accepted_advisories: v.optional(
      v.pipe(
        v.array(
          v.pipe(
            v.string(expectedAdvisories),
            v.regex(/^INTEL-(?:SA|DOC)-\d{5}$/, expectedAdvisories),
            v.metadata({ maxLength: 15 }),
          ),
          expectedAdvisories,
        ),
        v.maxLength(mostAdvisories, expectedAdvisories),
        v.description(ofAdvisories),
        v.transform(sorted),
      ),
      [],
    ),
    allow_debug: v.optional(flags.allow_debug, false),
    allow_reconnect: v.optional(flags.allow_reconnect, false),
    allow_used_guest: v.optional(flags.allow_used_guest, false),
  }),
  v.forward(
    v.check(({ platforms, pcrs }) => pcrs === null || platforms.some((each) => withVtpm.includes(each)), withoutVtpm),
    ['pcrs'],
  ),
  v.title('AttestationPolicyInput'),
  v.description(ofPolicy),
);

export const attestationPolicy = v.pipe(
  v.object({
    platforms: v.pipe(v.array(v.picklist(platforms)), v.description(ofPlatforms), v.metadata({ maxItems: platforms.length })),
    measurements: v.pipe(
      v.array(v.pipe(v.string(), v.metadata({ maxLength: 96 }))),
      v.description(ofMeasurements),
      v.metadata({ maxItems: mostMeasurements }),
    ),
    pcrs,
    vmpl,
    minimum_tcb: v.pipe(v.nullable(least), v.description(ofLeast)),
    accepted_tcb_statuses: v.pipe(
      v.array(v.picklist(tcbStatuses)),
      v.description(ofStatuses),
      v.metadata({ maxItems: tcbStatuses.length }),
    ),
    accepted_advisories: v.pipe(
      v.array(v.pipe(v.string(), v.metadata({ maxLength: 60 }))),
      v.description(ofAdvisories),
      v.metadata({ maxItems: mostAdvisories }),
    ),
    ...flags,
  }),
  v.title('AttestationPolicy'),
  v.description(ofPolicy),
);
export type AttestationPolicy = v.InferOutput<typeof attestationPolicy>;

const domainLabel = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/;

/**
 * Returns whether a text is the address of an agent, `host:port`: a DNS name, an IPv4 address or an IPv6 address in brackets, and
 * a port from 1 to 65535.
 */
export function isAgentUrl(text: string): boolean {
  const [, host = '', port = ''] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253}):([1-9][0-9]{0,4})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535) return false;
  if (host.startsWith('[')) return URL.canParse(`http://${host}`);
  const labels = host.split('.');
  if (/^[0-9]+$/.test(labels.at(-1) ?? '')) {
    return labels.length === 4 && labels.every((label) => /^(?:0|[1-9][0-9]{0,2})$/.test(label) && Number(label) <= 255);
  }
  return labels.every((label) => domainLabel.test(label));
}
