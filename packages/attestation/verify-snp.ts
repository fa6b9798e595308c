import { amdCertificates } from './amd-certificates.ts';
import {
  element,
  smallInteger,
  tags,
  type Bytes,
  bytesOfBase64,
  demand,
  isEqual,
  isZero,
  quote,
  toHex,
} from './evidence-bytes.ts';
import {
  type Certificate,
  checkChain,
  checkValidity,
  describeChain,
  mostTried,
  parseCertificates,
  splitPem,
  tryEach,
  verifyEcdsa,
} from './certificates.ts';
import { checkReportData, type TestRoots, type VerifyOptions, type Check, Checks, type Unhashed, unproven } from './verdict.ts';
import { parseSnpReport, type SnpReport, snpTcb, type SnpTcb } from './snp-report.ts';

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
 * (VCEK) Certificate and KDS Interface Specification", custom extensions): .1 structVersion, .2 productName, .3 security versions,
 * .4 hwID, .5 cspID.
 */
const amd = '1.3.6.1.4.1.3704.1';
/**
 * AMD's products, with what differs between them. `tcb`: the last numbers of the extensions .3 with security versions, in the order of the bytes of a
 * TCB_VERSION (56860, section 2.2): 1 blSPL, 2 teeSPL, 3 snpSPL, 4 to 7 of reserved bytes, 8 ucodeSPL, 9 fmcSPL. `chip`: the number of bytes
 * of CHIP_ID that hwID has. `structVersion`: the version of the extensions (57230).
 */
const products = new Map([
  ['Milan', { tcb: [1, 2, 4, 5, 6, 7, 3, 8], chip: 64, structVersion: 0 }],
  ['Genoa', { tcb: [1, 2, 4, 5, 6, 7, 3, 8], chip: 64, structVersion: 0 }],
  ['Turin', { tcb: [9, 1, 2, 3, 5, 6, 7, 8], chip: 8, structVersion: 1 }],
]);
type Product = NonNullable<ReturnType<(typeof products)['get']>>;

/** Returns what is special to the product of a report. A report of version 2 names none: then it is Milan or Genoa, which are alike. */
const productOf = ({ product }: SnpReport) => products.get(product ?? 'Milan') as Product;

const chipExtension = `${amd}.4`;
const ia5String = 0x16;

/**
 * Verifies an SNP attestation report: its certificates, its signature, and what it says of the guest.
 * @param certificates certificates that came with the report, in DER or PEM
 * @param checkData returns what the report data is, or throws. Default: it must be that of the certificate or nonce of the options
 */
export async function verifySnp(
  bytes: Bytes,
  certificates: readonly Uint8Array[],
  options: VerifyOptions,
  roots: TestRoots,
  checkData = (data: Bytes) => checkReportData(data, options.boundTo),
): Promise<Unhashed<SnpTcb>> {
  const checks = new Checks(names);
  const report = await checks.produce('report_format', () => {
    const parsed = parseSnpReport(bytes);
    return [parsed, `it is a report of version ${parsed.version}`];
  });
  if (report === undefined) return { ...checks.conclude(), platform: 'snp', ...unproven };
  if (report.product !== null && !products.has(report.product)) return unsupportedProduct(report.product, checks.list);

  const chain = await checks.produce('certificate_chain', async () => {
    const found = await findChain(report, [...certificates, ...(options.certificates ?? [])], roots);
    return [found.chain, `${describeChain(found.chain)}${found.unread}`];
  });
  if (chain !== undefined) {
    const [leaf, , root] = chain;
    checks.noteTestRoot(published().roots.some(({ publicKey }) => isEqual(publicKey, root.publicKey)));
    await checks.run('product', () => checkProduct(report, chain));
    await checks.run('certificate_validity', () => checkValidity(chain, options.now));
    await checks.run('certificate_chip', () => (report.signedBy === 'VCEK' ? checkChip(report, leaf) : checkProvider(leaf)));
    await checks.run('certificate_tcb', () => {
      const certified = certifiedTcb(report, leaf);
      const otherwise = `the certificate is for ${toHex(certified)}, the report for ${toHex(report.reportedTcb)}`;
      demand(isEqual(certified, report.reportedTcb), otherwise);
      return 'the certificate is for the versions that the report names';
    });
    await checks.run('signature', async () => {
      demand(await hasSigned(report, leaf), `it is not by the ${report.signedBy}`);
      return `it is by the ${report.signedBy}`;
    });
  }
  await checks.run('firmware_tcb', () => checkFirmware(report));
  const { vmpl, debug, migrationAgent, reportedTcb, product } = report;
  const byHost = `the privilege level ${vmpl} is not one of a guest: the host asked for the report`;
  checks.fact('vmpl', vmpl <= 3, `the guest asked for the report at privilege level ${vmpl}`, byHost);
  checks.fact('debug', !debug, 'the guest policy forbids debugging', 'the guest policy lets the host debug the guest');
  checks.fact('migration', !migrationAgent, 'the guest policy forbids a migration agent', 'it allows a migration agent');
  await checks.run('report_data', () => checkData(report.reportData));

  const genuine = checks.passed('certificate_chain', 'product', 'certificate_tcb', 'signature');
  const [measurement, guest] = [toHex(report.measurement), toHex(report.guest)];
  const proven = genuine && { measurement, tcb: snpTcb(reportedTcb, product), guest, vmpl };
  return { ...checks.conclude(), platform: 'snp', ...unproven, ...proven };
}

function unsupportedProduct(product: string, checks: Check[]): Unhashed<SnpTcb> {
  const detail = `SEV-SNP on ${product} is not supported, only on ${[...products.keys()].join(', ')}`;
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
): Promise<{ chain: [Certificate, Certificate, Certificate]; unread: string }> {
  const read = certificates.flatMap(splitPem).map(readCertificates);
  const given = read.flatMap(({ parsed }) => parsed);
  const failures = read.flatMap(({ failure }) => failure ?? []);
  const unread = failures.length === 0 ? '' : `; ${failures.length} left out that cannot be read: ${failures[0] ?? ''}`;
  const leaves = given.filter(({ commonName }) => commonName === `SEV-${report.signedBy}`);
  const fitting = leaves.filter((each) => isFor(report, each)).slice(0, mostTried);
  const have = await Promise.all(fitting.map((each) => hasSigned(report, each).catch(() => false)));
  const signers = fitting.filter((_, at) => have[at]);
  const trusted = roots?.flatMap(parseCertificates) ?? published().roots;
  const missing = `there is no certificate of the ${report.signedBy} that signed${unread}`;
  const chain = await tryEach([signers, fitting, leaves.slice(0, 1)].find(({ length }) => length > 0) ?? [], missing, (leaf) => {
    const issuers = [...given, ...published().intermediates].filter(({ subject }) => isEqual(subject, leaf.issuer));
    const none = `there is no certificate of the issuer of ${quote(leaf.commonName)}`;
    return tryEach(issuers, none, async (issuer): Promise<[Certificate, Certificate, Certificate]> => {
      return [leaf, issuer, await checkChain([leaf, issuer], trusted)];
    });
  });
  return { chain, unread };
}

/** Reads certificates in DER or PEM, or says why they cannot be read: one that cannot leaves the others as they are. */
function readCertificates(bytes: Uint8Array): { parsed: Certificate[]; failure?: string } {
  try {
    return { parsed: parseCertificates(bytes) };
  } catch (error) {
    return { parsed: [], failure: error instanceof Error ? error.message : 'it failed' };
  }
}

/**
 * Returns whether evidence of SNP is refused for nothing but that the certificate of the key which signed is missing, and so nothing
 * that depends on the certificate was checked. The certificate can be given in the options.
 */
export function lacksCertificate({ checks }: Pick<Unhashed, 'checks'>): boolean {
  const failed = checks.filter(({ passed, detail }) => !passed && !detail.startsWith('not checked'));
  return failed.length === 1 && /^there is no certificate of the V[CL]EK that signed(?:;|$)/.test(failed[0]?.detail ?? '');
}

/**
 * Verifies certificates for SNP up to AMD's roots, as they come from AMD's key server: in DER or PEM, with those that issued them or without.
 * @returns the name of each and when it runs out
 * @throws Refusal with what does not hold
 */
export async function verifyCertificates(bytes: Uint8Array, now: Date): Promise<{ name: string; expires: Date }[]> {
  const given = parseCertificates(bytes);
  const { roots, intermediates } = published();
  const verify = async (certificate: Certificate) => {
    const isRoot = roots.some(({ publicKey }) => isEqual(publicKey, certificate.publicKey));
    const issuers = [...given, ...intermediates].filter(({ subject }) => isEqual(subject, certificate.issuer) && !isRoot);
    const chain = issuers.length === 0 ? [certificate] : [certificate, ...issuers.slice(0, 1)];
    const root = await checkChain(chain, roots);
    checkValidity([...chain, root], now);
    return { name: certificate.commonName, expires: certificate.notAfter };
  };
  return await Promise.all(given.map(verify));
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
    return isEqual(certifiedTcb(report, leaf), report.reportedTcb);
  } catch {
    return false;
  }
}

/**
 * Checks that all certificates of a chain and the report are of the same product, which the name of the root says. Which stepping the certificate
 * names does not matter, nor what its subject has beside the common name: AMD signed both, and chip and versions decide.
 * @throws Refusal if they differ, or the product is not supported
 */
function checkProduct(report: SnpReport, [leaf, intermediate, root]: readonly [Certificate, Certificate, Certificate]): string {
  const product = root.commonName.replace('ARK-', '');
  const { structVersion } = products.get(product) ?? {};
  demand(structVersion !== undefined, `${quote(root.commonName)} is not the root of a supported product`);
  const expected = report.signedBy === 'VCEK' ? `SEV-${product}` : `SEV-VLEK-${product}`;
  const isExpected = intermediate.commonName === expected;
  demand(isExpected, `${quote(intermediate.commonName)} is not ${expected}, which issues a ${report.signedBy}`);
  const named = text(leaf, `${amd}.2`);
  const [, name] = /^([A-Za-z]+)(?:-[A-Z]\d)?$/.exec(named) ?? []; // such as Milan-B0
  demand(name === product, `the certificate is for ${quote(named)}, but its root is of ${product}`);
  const version = smallInteger(extension(leaf, `${amd}.1`));
  const other = `have version ${version}, those of ${product} have ${structVersion}`;
  demand(version === structVersion, `the extensions of the certificate ${other}`);
  const isOfProduct = report.product === product || (report.product === null && product !== 'Turin');
  demand(isOfProduct, `the report is of ${report.product ?? 'a product that it does not name'}, its certificates of ${product}`);
  return `the processor is ${product}`;
}

/**
 * Checks that the certificate of a VCEK is for the chip of a report. AMD writes hwID as plain bytes, and announced a DER octet string: both are
 * read, as in go-sev-guest and Trustee, so that machines are not refused on the day on which AMD changes it. A certificate that names a
 * provider beside the chip is for that chip all the same. A report without its chip is refused: nothing else says whose certificate it needs.
 * @throws Refusal if the certificate is for another chip, or the report hides its chip
 */
function checkChip(report: SnpReport, leaf: Certificate): string {
  const size = productOf(report).chip;
  const named = extension(leaf, chipExtension);
  const chip = named.length === size + 2 ? element(named, tags.octets).content : named;
  demand(!isZero(report.chipId), 'the report hides its chip');
  const isOfChip = isEqual(chip, report.chipId.slice(0, size)) && isZero(report.chipId.slice(size));
  const certified = `the certificate is for the chip ${toHex(chip).slice(0, 16)}…`;
  demand(isOfChip, `${certified}, not ${toHex(report.chipId).slice(0, 16)}…`);
  return certified;
}

/**
 * Checks that the certificate of a VLEK names a cloud provider and no chip: a provider uses a VLEK on all of its machines.
 * @throws Refusal if it names a chip
 */
function checkProvider(leaf: Certificate): string {
  demand(!leaf.extensions.has(chipExtension), 'the certificate of a VLEK names a chip');
  return `the certificate is for any chip of the provider ${quote(text(leaf, `${amd}.5`))}`;
}

function certifiedTcb(report: SnpReport, leaf: Certificate): Bytes {
  const versions = productOf(report).tcb.map((number) => {
    const version = smallInteger(extension(leaf, `${amd}.3.${number}`));
    demand(version < 256, `the certificate has a version of ${version}`);
    return version;
  });
  return Uint8Array.from(versions);
}

/**
 * Checks that the security versions in an SNP report are ordered: the reported ones at most the committed ones (which the machine
 * cannot go back behind), and these at most the running ones. Build and API version (CURRENT_BUILD, COMMITTED_BUILD and those behind them) are not
 * compared: AMD's bulletins and certificates name security versions alone, and so do policies.
 * @throws Refusal if they are not
 */
function checkFirmware({ reportedTcb, committedTcb, currentTcb }: SnpReport): string {
  const ordered = (lower: Bytes, higher: Bytes) => lower.every((version, at) => version <= (higher[at] ?? 0));
  demand(ordered(reportedTcb, committedTcb), `it reports ${toHex(reportedTcb)}, more than is committed: ${toHex(committedTcb)}`);
  demand(ordered(committedTcb, currentTcb), `it has committed ${toHex(committedTcb)}, more than runs: ${toHex(currentTcb)}`);
  return 'the reported versions are committed and run';
}

const text = (leaf: Certificate, name: string) =>
  new TextDecoder('latin1').decode(element(extension(leaf, name), ia5String).content);

/** Returns the content of an extension of a certificate. @throws Refusal if the certificate lacks it */
function extension({ extensions }: Certificate, name: string): Bytes {
  const value = extensions.get(name);
  demand(value !== undefined, `the certificate lacks the extension ${name}`);
  return value;
}
