import { amdCertificates } from './amd-certificates.ts';
import { element, smallInteger } from './asn1.ts';
import {
  type Certificate,
  checkChain,
  checkValidity,
  describeChain,
  mostTried,
  parseCertificates,
  tryEach,
  verifyEcdsa,
} from './certificates.ts';
import { type Bytes, bytesOfBase64, demand, isEqual, isZero, quote, toHex } from './evidence-bytes.ts';
import { checkReportData, type TestRoots, type VerifyOptions } from './options.ts';
import { parseSnpReport, type SnpReport, snpTcb, type SnpTcb } from './snp-report.ts';
import { type Check, Checks, unproven, type Verdict } from './verdict.ts';

const names = [
  'report_format',
  'product',
  'certificate_chain',
  'certificate_validity',
  'certificate_chip',
  'certificate_tcb',
  'signature',
  'firmware_tcb',
  'vmpl',
  'debug',
  'migration',
  'report_data',
] as const;

/**
 * The beginning of the object identifiers of AMD's certificate extensions (AMD's document 57230, "Versioned Chip Endorsement Key
 * (VCEK) Certificate and KDS Interface Specification", custom extensions): .2 productName, .3 security versions, .4 hwID, .5 cspID.
 */
const amd = '1.3.6.1.4.1.3704.1';
/**
 * The object identifiers of the extensions with the security versions in a certificate of AMD, in the order of the bytes of a
 * TCB_VERSION of Milan and Genoa (56860, section 2.2): blSPL, teeSPL, spl_4 to spl_7 of the reserved bytes, snpSPL, ucodeSPL.
 */
const tcbExtensions = [1, 2, 4, 5, 6, 7, 3, 8].map((number) => `${amd}.3.${number}`);
const chipExtension = `${amd}.4`;
const providerExtension = `${amd}.5`;
const ia5String = 0x16;

type SnpVerdict = Omit<Verdict<SnpTcb>, 'token_hash'>;

/**
 * Verifies an SNP attestation report: its certificates, its signature, and what it says of the guest.
 * @param certificates certificates that came with the report, in DER or PEM
 */
export async function verifySnp(
  bytes: Bytes,
  certificates: readonly Uint8Array[],
  options: VerifyOptions,
  roots: TestRoots,
): Promise<SnpVerdict> {
  const checks = new Checks(names);
  const report = await checks.produce('report_format', () => {
    const parsed = parseSnpReport(bytes);
    return [parsed, `it is a report of version ${parsed.version}`];
  });
  if (report === undefined) return { ...checks.conclude(), platform: 'snp', ...unproven };
  if (report.product !== null && !supported.has(report.product)) return unsupportedProduct(report.product, checks.list);

  const chain = await checks.produce('certificate_chain', async () => {
    const found = await findChain(report, [...certificates, ...(options.certificates ?? [])], roots);
    return [found, describeChain(found)];
  });
  if (chain !== undefined) {
    const [leaf, , root] = chain;
    checks.noteTestRoot(published().roots.some(({ publicKey }) => isEqual(publicKey, root.publicKey)));
    await checks.run('product', () => checkProduct(report, chain));
    await checks.run('certificate_validity', () => checkValidity(chain, options.now));
    await checks.run('certificate_chip', () => (report.signedBy === 'VCEK' ? checkChip(report, leaf) : checkProvider(leaf)));
    await checks.run('certificate_tcb', () => {
      const certified = certifiedTcb(leaf);
      demand(
        isEqual(certified, report.reportedTcb),
        `the certificate is for ${toHex(certified)}, the report for ${toHex(report.reportedTcb)}`,
      );
      return 'the certificate is for the versions that the report names';
    });
    await checks.run('signature', async () => {
      demand(await hasSigned(report, leaf), `it is not by the ${report.signedBy}`);
      return `it is by the ${report.signedBy}`;
    });
  }
  await checks.run('firmware_tcb', () => checkFirmware(report));
  checks.fact(
    'vmpl',
    report.vmpl <= 3,
    `the guest asked for the report at privilege level ${report.vmpl}`,
    `the privilege level ${report.vmpl} is not one of a guest: the host asked for the report`,
  );
  const { debug, migrationAgent } = report;
  checks.fact('debug', !debug, 'the guest policy forbids debugging', 'the guest policy lets the host debug the guest');
  checks.fact('migration', !migrationAgent, 'the guest policy forbids a migration agent', 'it allows a migration agent');
  await checks.run('report_data', () => checkReportData(report.reportData, options.boundTo));

  const genuine = checks.passed('certificate_chain', 'product', 'certificate_tcb', 'signature');
  return {
    ...checks.conclude(),
    platform: 'snp',
    measurement: genuine ? toHex(report.measurement) : null,
    tcb: genuine ? snpTcb(report.reportedTcb) : null,
    guest: genuine ? toHex(report.guest) : null,
    vmpl: genuine ? report.vmpl : null,
  };
}

/**
 * The AMD processors whose reports this package verifies. Later products have other certificates and another order of versions.
 */
const supported = new Set(['Milan', 'Genoa']);

function unsupportedProduct(product: string, checks: Check[]): SnpVerdict {
  const detail = `SEV-SNP on ${product} is not supported, only on ${[...supported].join(' and ')}`;
  const platform = `snp-${product.toLowerCase().replaceAll(' ', '-')}`;
  const all = [...checks, { name: 'product', passed: false, detail }];
  return { verdict: 'unsupported', platform, checks: all, ...unproven };
}

/**
 * Finds the certificate of the key that signed a report, the certificate of its issuer, and the trusted root.
 * @throws Refusal if the chain is incomplete or does not hold
 */
async function findChain(
  report: SnpReport,
  certificates: readonly Uint8Array[],
  roots: TestRoots,
): Promise<[Certificate, Certificate, Certificate]> {
  const given = certificates.flatMap(parseCertificates);
  const leaves = given.filter(({ commonName }) => commonName === `SEV-${report.signedBy}`);
  const fitting = leaves.filter((each) => isFor(report, each)).slice(0, mostTried);
  const have = await Promise.all(fitting.map((each) => hasSigned(report, each).catch(() => false)));
  const signers = fitting.filter((_, at) => have[at]);
  const trusted = roots?.flatMap(parseCertificates) ?? published().roots;
  const missing = `there is no certificate of the ${report.signedBy} that signed`;
  return tryEach([signers, fitting, leaves.slice(0, 1)].find(({ length }) => length > 0) ?? [], missing, (leaf) => {
    const issuers = [...given, ...published().intermediates].filter(({ subject }) => isEqual(subject, leaf.issuer));
    const none = `there is no certificate of the issuer of ${quote(leaf.commonName)}`;
    return tryEach(issuers, none, async (issuer) => [leaf, issuer, await checkChain([leaf, issuer], trusted)]);
  });
}

/**
 * Returns whether evidence of SNP is refused for nothing but that the certificate of the key which signed is missing, and so nothing
 * that depends on the certificate was checked. The certificate can be given in the options.
 */
export function lacksCertificate({ checks }: Pick<Verdict, 'checks'>): boolean {
  const failed = checks.filter(({ passed, detail }) => !passed && !detail.startsWith('not checked'));
  return failed.length === 1 && /^there is no certificate of the V[CL]EK that signed$/.test(failed[0]?.detail ?? '');
}

let parsed: Record<keyof typeof amdCertificates, Certificate[]> | undefined;

function published() {
  const parse = (base64: string) => parseCertificates(bytesOfBase64(base64, 'a certificate'));
  parsed ??= { roots: amdCertificates.roots.flatMap(parse), intermediates: amdCertificates.intermediates.flatMap(parse) };
  return parsed;
}

const hasSigned = ({ signature, signedBytes }: SnpReport, { publicKey }: Certificate) =>
  verifyEcdsa('P-384', publicKey, signature, signedBytes);

function isFor(report: SnpReport, leaf: Certificate): boolean {
  try {
    if (report.signedBy === 'VCEK') checkChip(report, leaf);
    return isEqual(certifiedTcb(leaf), report.reportedTcb);
  } catch {
    return false;
  }
}

/**
 * Checks that all certificates of a chain and the report are of the same product, which the name of the root says.
 * @throws Refusal if they differ, or the product is not supported
 */
function checkProduct(report: SnpReport, [leaf, intermediate, root]: readonly [Certificate, Certificate, Certificate]): string {
  const product = root.commonName.replace('ARK-', '');
  demand(supported.has(product), `${quote(root.commonName)} is not the root of a supported product`);
  const expected = report.signedBy === 'VCEK' ? `SEV-${product}` : `SEV-VLEK-${product}`;
  demand(
    intermediate.commonName === expected,
    `${quote(intermediate.commonName)} is not ${expected}, which issues a ${report.signedBy}`,
  );
  const named = text(leaf, `${amd}.2`);
  demand(named.split('-')[0] === product, `the certificate is for ${quote(named)}, but its root is of ${product}`);
  demand(
    report.product === null || report.product === product,
    `the report is of ${report.product ?? ''}, its certificates of ${product}`,
  );
  return `the processor is ${product}`;
}

function checkChip(report: SnpReport, leaf: Certificate): string {
  const chip = leaf.extensions.get(chipExtension);
  demand(chip !== undefined, 'the certificate names no chip');
  demand(!isZero(report.chipId), 'the report hides its chip');
  demand(
    isEqual(chip, report.chipId),
    `the certificate is for the chip ${toHex(chip).slice(0, 16)}…, not ${toHex(report.chipId).slice(0, 16)}…`,
  );
  return `the certificate is for the chip ${toHex(chip).slice(0, 16)}…`;
}

/**
 * Checks that the certificate of a VLEK names a cloud provider and no chip: a provider uses a VLEK on all of its machines.
 * @throws Refusal if it names a chip
 */
function checkProvider(leaf: Certificate): string {
  demand(!leaf.extensions.has(chipExtension), 'the certificate of a VLEK names a chip');
  return `the certificate is for any chip of the provider ${quote(text(leaf, providerExtension))}`;
}

function certifiedTcb({ extensions }: Certificate): Bytes {
  const versions = tcbExtensions.map((name) => {
    const value = extensions.get(name);
    demand(value !== undefined, `the certificate lacks the version ${name}`);
    const version = smallInteger(value);
    demand(version < 256, `the certificate has a version of ${version}`);
    return version;
  });
  return Uint8Array.from(versions);
}

/**
 * Checks that the security versions in an SNP report are ordered: the reported ones at most the committed ones (which the machine
 * cannot go back behind), and these at most the running ones.
 * @throws Refusal if they are not
 */
function checkFirmware({ reportedTcb, committedTcb, currentTcb }: SnpReport): string {
  const ordered = (lower: Bytes, higher: Bytes) => lower.every((version, at) => version <= (higher[at] ?? 0));
  demand(ordered(reportedTcb, committedTcb), `it reports ${toHex(reportedTcb)}, more than is committed: ${toHex(committedTcb)}`);
  demand(ordered(committedTcb, currentTcb), `it has committed ${toHex(committedTcb)}, more than runs: ${toHex(currentTcb)}`);
  return 'the reported versions are committed and run';
}

function text({ extensions }: Certificate, name: string): string {
  const value = extensions.get(name);
  demand(value !== undefined, `the certificate lacks the extension ${name}`);
  return new TextDecoder('latin1').decode(element(value, ia5String).content);
}
