import * as v from 'valibot';
import { strictObject } from './fields.ts';

export const platforms = ['snp', 'tdx'] as const;
export const verdicts = ['verified', 'refused', 'unsupported'] as const;

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

const expectedPlatforms = 'Expected a list of snp, tdx or both.';
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

const least = v.pipe(
  strictObject({
    bootloader: version('the bootloader'),
    tee: version('the TEE'),
    snp: version('the SNP firmware'),
    microcode: version('the microcode'),
  }),
  v.title('MinimumTcb'),
  v.description('Versions of the firmware of an SNP machine.'),
);
const leastOrNone = v.pipe(v.nullable(least), v.description('The least versions of an SNP machine. null: any.'));
const debug = v.pipe(v.boolean('Expected true or false.'), v.description('Whether the host may debug the CVM. Default `false`.'));
const ofPlatforms = 'The platforms that a CVM may have: `snp`, `tdx` or both. Returned sorted.';
const ofMeasurements =
  'The measurements that a CVM may have, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0, RTMR1 and ' +
  'RTMR2. Returned sorted, in lower case, each once.';
const ofPolicy = 'Which CVMs may run a computation. A run starts only on a CVM whose verified attestation satisfies it.';

export const attestationPolicyInput = v.pipe(
  strictObject({
    platforms: v.pipe(
      v.array(v.picklist(platforms, expectedPlatforms), expectedPlatforms),
      v.minLength(1, expectedPlatforms),
      v.maxLength(2, expectedPlatforms),
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
    minimum_tcb: v.optional(leastOrNone, null),
    allow_debug: v.optional(debug, false),
  }),
  v.title('AttestationPolicyInput'),
  v.description(ofPolicy),
);

export const attestationPolicy = v.pipe(
  v.object({
    platforms: v.pipe(v.array(v.picklist(platforms)), v.description(ofPlatforms), v.metadata({ maxItems: 2 })),
    measurements: v.pipe(
      v.array(v.pipe(v.string(), v.metadata({ maxLength: 96 }))),
      v.description(ofMeasurements),
      v.metadata({ maxItems: mostMeasurements }),
    ),
    minimum_tcb: leastOrNone,
    allow_debug: debug,
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
