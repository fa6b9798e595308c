import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { quotedName } from 'computation-management-formats/quoted-name';

/** The components of an SNP machine that have versions, in words. */
const componentTexts = {
  bootloader: 'the bootloader',
  tee: 'the TEE',
  snp: 'the SNP firmware',
  microcode: 'the microcode',
  fmc: 'the FMC',
};
const isComponent = (name: string): name is keyof typeof componentTexts => Object.hasOwn(componentTexts, name);
/** Returns a component of an SNP machine in words, and a component that is not known by its name. */
export const componentText = (name: string) => (isComponent(name) ? componentTexts[name] : quotedName(name));

const isOfAzure = (platform: string) => platform.startsWith('az-');
const hasVtpm = (platform: string) => platform.endsWith('-vtpm');
/** Returns whether a platform is of a family of processors. A platform that is not known is of both, so that no rule is left out. */
const isOf = (family: 'snp' | 'tdx') => (platform: string) =>
  platform.split('-').includes(family) || !/\b(?:snp|tdx)\b/.test(platform);

/** Returns the rules of an attestation policy as lines. null: the computation has no policy. */
export function policyLines(policy: AttestationPolicy | null): string[] {
  if (policy === null) return ['None: a run may use any CVM'];
  const { platforms, measurements, pcrs, minimum_tcb, vmpl, accepted_tcb_statuses, accepted_advisories } = policy;
  const { allow_debug, allow_reconnect, allow_used_guest } = policy;
  const least = Object.entries(minimum_tcb ?? {}).filter(([, version]) => version !== null);
  return [
    `Platforms: ${platforms.join(', ')}`,
    ...measurements.map((measurement) => `Measurement: ${measurement}`),
    ...pcrLines(policy),
    ...(platforms.some(hasVtpm) && pcrs === null ? ['PCRs of its vTPM: any'] : []),
    ...least.map(([name, version]) => `Least version of ${componentText(name)}: ${String(version)}`),
    ...(platforms.some(isOf('tdx'))
      ? [
          `Intel's statuses of its versions: ${accepted_tcb_statuses.join(', ') || 'none'}`,
          `Intel's advisories that are accepted: ${accepted_advisories.join(', ') || 'none'}`,
        ]
      : []),
    ...(platforms.some(isOf('snp')) ? [vmplLine(vmpl), usedGuestLine(allow_used_guest)] : []),
    allow_debug ? 'The host may debug the CVM and read its memory' : 'The host may not debug the CVM',
    allow_reconnect
      ? 'After a lost connection the run goes on with whoever has the private key of the certificate: nothing proves that it is the same machine'
      : 'The run ends as failed if the connection that attested closes',
  ];
}

/** Returns a line for each PCR whose value a policy demands. */
export const pcrLines = ({ pcrs }: Pick<AttestationPolicy, 'pcrs'>): string[] =>
  Object.entries(pcrs?.sha256 ?? {}).map(([number, value]) => `PCR ${number}: ${value}`);

const ofParavisor =
  "The measurement of a machine on Azure is that of Microsoft's paravisor, not of the guest: without PCRs, any VM of any Azure customer with that paravisor satisfies the policy.";
const ofTpmOfHost =
  'An image that takes its TPM from the host shows the PCRs that the host likes: only the measurement proves what a snp-vtpm machine is.';

/** Returns what the platforms of an attestation policy do not prove, a sentence for each. */
export function policyCautions({ platforms, pcrs }: Pick<AttestationPolicy, 'platforms' | 'pcrs'>): string[] {
  const isAnyOfAzure = platforms.some(isOfAzure) && pcrs === null;
  return [...(isAnyOfAzure ? [ofParavisor] : []), ...(platforms.includes('snp-vtpm') ? [ofTpmOfHost] : [])];
}

const vmplLine = (vmpl: number) =>
  vmpl === 0
    ? 'The report comes from privilege level 0, the measured software itself'
    : `The report may come from privilege level 0 to ${vmpl}: software below the measured paravisor may have asked for it`;

const usedGuestLine = (isAllowed: boolean) =>
  isAllowed
    ? 'The machine may have worked on another run before, and may keep what it saw there'
    : 'The machine has accepted no other run before';

/** The members of an asset, or of a file of a manifest, that say how the agent gets the file. */
export interface Fetched {
  source?: { url?: string | undefined; kbs_resource_path?: string | undefined } | null | undefined;
  kbs?: { url?: string | undefined } | null | undefined;
  decompress?: boolean | null | undefined;
  algo_type?: string | null | undefined;
  algo_args?: readonly string[] | null | undefined;
}

/** Returns how the agent gets the file of an asset, a line for each fact. Empty if a party sends the file, unless encrypted. */
export function fetchLines({ source, kbs, decompress, algo_type, algo_args }: Fetched): string[] {
  const place = source && { url: source.url, kbs_resource_path: source.kbs_resource_path };
  const facts = {
    source: place,
    kbs: kbs && { url: kbs.url },
    decompress,
    algo_type,
    algo_args: algo_args?.length ? algo_args : null,
  };
  return membersOf(facts)
    .filter(([, value]) => Boolean(value))
    .map(lineOf);
}

/**
 * Returns a line for each member of a part of a manifest. An approval covers all members, also those that this version does not know.
 * @param labelled the names of the members to leave out, because they are shown elsewhere
 */
export function manifestLines(part: object, labelled: readonly string[] = []): string[] {
  return membersOf(Object.fromEntries(Object.entries(part).filter(([name]) => !labelled.includes(name)))).map(lineOf);
}

type Member = readonly [path: string, value: unknown];

function membersOf(value: unknown, path = ''): Member[] {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (entries.length === 0) return path === '' ? [] : [[path.slice(1), value]];
  return entries.flatMap(([name, member]) => membersOf(member, `${path}.${/^\w+$/.test(name) ? name : quotedName(name)}`));
}

const labels = new Map([
  ['source.url', 'fetched by the agent from'],
  ['source.kbs_resource_path', 'decrypted with the key'],
  ['source.encrypted true', 'encrypted'],
  ['kbs.url', 'keys from'],
  ['kbs.enabled true', 'the agent may use the network for it'],
  ['decompress true', 'unpacked by the agent'],
  ['algo_type', 'run as'],
  ['algo_args', 'arguments'],
]);

/**
 * Formats a member of a manifest, its path and value, as a line. A value of more than one plain word is quoted, so that no value can
 * imitate a line.
 */
function lineOf([path, value]: Member): string {
  const flag = value === true && labels.get(`${path} true`);
  return flag || `${labels.get(path) ?? `also ${path}:`} ${valueText(value)}`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((entry) => (typeof entry === 'string' ? quotedName(entry) : valueText(entry))).join(',')}]`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text) ? text : quotedName(text);
}
