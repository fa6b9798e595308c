import * as v from 'valibot';
import { arrayOf, described, namedInput, namedObject, orNull } from './fields.ts';

/** The platforms that policies can allow (docs/contract.md, section 15). */
export const platforms = ['az-snp-vtpm', 'az-tdx-vtpm', 'snp', 'snp-vtpm', 'tdx'] as const;
/** The machines that have each platform, in words. docs/cvm.md has them as a table. */
export const platformTexts: Record<(typeof platforms)[number], string> = {
  'az-snp-vtpm':
    'a confidential VM of AMD on Azure, whose evidence has the runtime data of its paravisor. That of the Cocos agent lacks them',
  'az-tdx-vtpm': 'a confidential VM of Intel on Azure, under the same condition. It may lack SEPT_VE_DISABLE',
  snp: 'AMD SEV-SNP without a vTPM: Milan, Genoa (also Bergamo and Siena), Turin',
  'snp-vtpm': 'the same with a vTPM, as the Cocos agent reports wherever there is a TPM device',
  tdx: 'Intel TDX with the attribute SEPT_VE_DISABLE, while the service has the documents of Intel for it',
};
/** The platforms whose evidence names the guest by its REPORT_ID. Keys are released to these alone. */
export const platformsWithGuest: readonly string[] = ['az-snp-vtpm', 'snp', 'snp-vtpm'];
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

const expectedMeasurement = 'Expected 96 hex digits.';
const measurement = v.pipe(
  v.string(expectedMeasurement),
  v.regex(/^[0-9a-fA-F]{96}$/, expectedMeasurement),
  v.toLowerCase(),
  v.metadata({ minLength: 96, maxLength: 96 }),
);

function upTo(most: number, description: string, source = '') {
  const expected = `Expected a whole number from 0 to ${most}${source}.`;
  return v.pipe(
    v.number(expected),
    v.integer(expected),
    v.minValue(0, expected),
    v.maxValue(most, expected),
    v.description(description),
  );
}

const version = (what: string) =>
  upTo(255, `The least version of ${what}, 0 to 255.`, ": take it from AMD's bulletins. The page of a CVM shows what it has");

/**
 * Makes the schema of a list whose order does not matter. It is returned sorted, with each entry once.
 * @param empty what to do about an empty list. Undefined: it may be empty
 */
function setOf<const Entry extends v.GenericSchema<unknown, string>>(
  entry: Entry,
  { what, empty, most, description }: { what: string; empty?: string | undefined; most: number; description: string },
) {
  return v.pipe(
    v.array(entry, `Expected a list of ${what}.`),
    v.minLength(empty === undefined ? 0 : 1, empty),
    v.maxLength(most, ({ input: of }) => `Of ${of.length} ${what}, remove ${of.length - most}: at most ${most} are allowed.`),
    v.description(description),
    v.transform((entries): v.InferOutput<Entry>[] => [...new Set(entries)].sort()),
  );
}

/** Makes the schema of a list of some of given names. */
function someOf<const Names extends readonly string[]>(names: Names, what: string, description: string, empty?: string) {
  const name = v.picklist(names, `Expected one of ${names.join(', ')}.`);
  return setOf(name, { what: `${what} (${names.join(', ')})`, empty, most: names.length, description });
}

const versions = {
  bootloader: version('the bootloader'),
  tee: version('the TEE'),
  snp: version('the SNP firmware'),
  microcode: version('the microcode'),
};
const fmc = orNull(version('the FMC'), 'Turin: the least version of the FMC, 0 to 255. null: any.');
const ofVersions = 'Versions of the firmware of an SNP machine.';
const ofLeast = 'The least versions of an SNP machine. null: any.';
const leastInput = namedInput('MinimumTcbInput', ofVersions, { ...versions, fmc: v.optional(fmc, null) });
const least = namedObject('MinimumTcb', ofVersions, { ...versions, fmc });

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

const vmpl = upTo(
  3,
  'SNP: the highest privilege level (VMPL) from which the guest may ask for its report, 0 to 3. Default 0. A standard Cocos machine needs 2. ' +
    'With 1 to 3, software below the measured paravisor may have asked for the report.',
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
  namedInput(
    'PcrBank',
    'The values by the number of the PCR, `0` to `23`.',
    v.entriesFromList(numbersOfPcrs, v.exactOptional(pcr)),
  ),
  v.check((values) => Object.keys(values).length > 0, expectedPcrs),
);
const pcrs = orNull(namedInput('Pcrs', 'Values of PCRs.', { sha256: bank }), ofPcrs);
const flag = (what: string) => described(v.boolean('Expected true or false.'), `${what} Default \`false\`.`);
const flags = {
  allow_debug: flag('Whether the host may debug the CVM.'),
  allow_reconnect: flag('Whether a run may go on over a later connection with the same certificate than the one that attested.'),
  allow_used_guest: flag('SNP: whether a guest that accepted another run before may have the run.'),
};
const ofStatuses = "TDX: Intel's statuses of the versions that a CVM may have. Default `UpToDate` alone. Returned sorted.";
const ofAdvisories = "TDX: Intel's advisories about the versions that a CVM may have. Default none. Returned sorted.";
const noAdvisory = 'This is no identifier of an advisory. Write it like INTEL-SA-00837.';
const advisory = v.pipe(v.string(noAdvisory), v.regex(/^INTEL-(?:SA|DOC)-\d{5}$/, noAdvisory), v.metadata({ maxLength: 15 }));
const ofPlatforms = `The platforms that a CVM may have: ${platforms.map((each) => `\`${each}\``).join(', ')}. Returned sorted.`;
const ofMeasurements =
  'The measurements that a CVM may have, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0, RTMR1 and ' +
  'RTMR2. Returned sorted, in lower case, each once.';
const ofPolicy = 'Which CVMs may run a computation. A run starts only on a CVM whose verified attestation satisfies it.';

/** The rules that a policy need not state, as strict as they are then. */
export const strictestRules: Omit<AttestationPolicy, 'platforms' | 'measurements'> = {
  pcrs: null,
  vmpl: 0,
  minimum_tcb: null,
  accepted_tcb_statuses: ['UpToDate'],
  accepted_advisories: [],
  allow_debug: false,
  allow_reconnect: false,
  allow_used_guest: false,
};

const choose = 'Choose at least one platform: that of your CVM, as its page shows.';
const enter = 'Enter a measurement of 96 hex digits: get it from who built the image, and compare it with the page of the CVM.';
const withoutVtpm = `Expected null, or one of ${withVtpm.join(', ')} among the platforms: others have no PCRs.`;

export const attestationPolicyInput = v.pipe(
  namedInput('AttestationPolicyInput', ofPolicy, {
    platforms: someOf(platforms, 'platforms', ofPlatforms, choose),
    measurements: setOf(measurement, { what: 'measurements', empty: enter, most: mostMeasurements, description: ofMeasurements }),
    pcrs: v.optional(pcrs, strictestRules.pcrs),
    vmpl: v.optional(vmpl, strictestRules.vmpl),
    minimum_tcb: v.optional(orNull(leastInput, ofLeast), strictestRules.minimum_tcb),
    accepted_tcb_statuses: v.optional(someOf(tcbStatuses, 'statuses', ofStatuses), strictestRules.accepted_tcb_statuses),
    accepted_advisories: v.optional(
      setOf(advisory, { what: 'advisories', most: mostAdvisories, description: ofAdvisories }),
      strictestRules.accepted_advisories,
    ),
    allow_debug: v.optional(flags.allow_debug, strictestRules.allow_debug),
    allow_reconnect: v.optional(flags.allow_reconnect, strictestRules.allow_reconnect),
    allow_used_guest: v.optional(flags.allow_used_guest, strictestRules.allow_used_guest),
  }),
  v.forward(
    v.check(({ platforms, pcrs }) => pcrs === null || platforms.some((each) => withVtpm.includes(each)), withoutVtpm),
    ['pcrs'],
  ),
);

export const attestationPolicy = namedObject('AttestationPolicy', ofPolicy, {
  platforms: arrayOf(v.picklist(platforms), platforms.length, ofPlatforms),
  measurements: arrayOf(v.pipe(v.string(), v.metadata({ maxLength: 96 })), mostMeasurements, ofMeasurements),
  pcrs,
  vmpl,
  minimum_tcb: orNull(least, ofLeast),
  accepted_tcb_statuses: arrayOf(v.picklist(tcbStatuses), tcbStatuses.length, ofStatuses),
  accepted_advisories: arrayOf(v.pipe(v.string(), v.metadata({ maxLength: 60 })), mostAdvisories, ofAdvisories),
  ...flags,
});
export type AttestationPolicy = v.InferOutput<typeof attestationPolicy>;

/** Returns the platforms of a policy whose evidence names no guest, so that no key can be released to them. */
export const withoutGuest = ({ platforms }: Pick<AttestationPolicy, 'platforms'>): string[] =>
  platforms.filter((platform) => !platformsWithGuest.includes(platform));

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
