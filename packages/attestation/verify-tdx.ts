import {
  type Bytes,
  concatenate,
  demand,
  isEqual,
  bytesOfBase64,
  bytesOfHex,
  isZero,
  quote,
  Refusal,
  sha,
  toHex,
  element,
  type Element,
  elements,
  oid,
  parts,
  smallInteger,
  tags,
} from './evidence-bytes.ts';
import {
  type Certificate,
  checkChain,
  checkRevocation,
  checkValidity,
  mostTried,
  parseCertificates,
  verifyEcdsa,
  describeChain,
} from './certificates.ts';
import { tdxQuoteIn } from './token.ts';
import { intelRoot } from './intel-root.ts';
import { checkReportData, type TestRoots, type VerifyOptions, Checks, type Unhashed, unproven } from './verdict.ts';
import {
  collateralFor,
  type EnclaveIdentity,
  type Level,
  readDocuments,
  type TcbInfo,
  validityOf,
  type VerifiedCollateral,
  type WholeCollateral,
} from './tdx-collateral.ts';
import { equalUnderMask, parseEnclaveReport, parseTdxQuote, type TdxQuote } from './tdx-quote.ts';

export interface TdxTcb {
  /** Intel's status of the security versions of platform, TDX module and quoting enclave together, such as `UpToDate`. */
  status: string;
  /** The security versions of the TDX module and its parts, in hex. */
  tee_tcb_svn: string;
  advisories: string[];
}

const names = [
  'report_format',
  'certificate_chain',
  'certificate_validity',
  'quoting_enclave',
  'signature',
  'collateral',
  'revocation',
  'enclave_identity',
  'module_identity',
  'tcb_status',
  'debug',
  'attributes',
  'migration',
  'report_data',
] as const;

/**
 * Verifies a quote of TDX by Intel's documents in the options.
 * @param checkData returns what the report data is, or throws. Default: it must be that of the certificate or nonce of the options
 * @param needed the attribute bits that the guest must have
 */
export async function verifyTdx(
  bytes: Bytes,
  options: VerifyOptions,
  testRoots: TestRoots,
  checkData = (data: Bytes) => checkReportData(data, options.boundTo),
  needed = septVeDisable,
): Promise<Unhashed<TdxTcb>> {
  const checks = new Checks(names);
  const parsed = await checks.produce('report_format', () => {
    const read = parseTdxQuote(tdxQuoteIn(bytes));
    return [read, `it is a quote of version ${read.version}`];
  });
  if (parsed === undefined) return { ...checks.conclude(), platform: 'tdx', ...unproven };

  const ofIntel = parseCertificates(bytesOfBase64(intelRoot, 'a certificate'));
  const roots = testRoots?.flatMap(parseCertificates) ?? ofIntel;
  const platform = await checks.produce('certificate_chain', () => readPlatform(parsed, roots));
  let tcb: TdxTcb | null = null;
  if (platform !== undefined) {
    const [, , { publicKey }] = platform.chain;
    checks.noteTestRoot(ofIntel.some((each) => isEqual(each.publicKey, publicKey)));
    await checks.run('certificate_validity', () => checkValidity(platform.chain, options.now));
    await checks.run('quoting_enclave', () => checkQuotingEnclave(parsed, platform));
    await checks.run('signature', async () => {
      const { attestationKey, signature, signedBytes } = parsed;
      demand(await verifyEcdsa('P-256', attestationKey, signature, signedBytes), 'it is not by the quoting enclave');
      return 'it is by the quoting enclave';
    });
    const published = await checks.produce('collateral', () => readCollateral(platform, roots, options));
    if (published !== undefined) tcb = await checkAgainst(published, checks, parsed, platform, options.now);
  }
  const debug = ((parsed.attributes[0] ?? 0) & 1) !== 0;
  checks.fact('debug', !debug, 'the attributes forbid debugging', 'the attributes allow the host to debug the guest');
  await checks.run('attributes', () => checkAttributes(parsed.attributes, needed));
  const isFixed = isZero(parsed.migrationService);
  checks.fact('migration', isFixed, 'the guest has no migration service', 'the guest has a migration service');
  await checks.run('report_data', () => checkData(parsed.reportData));

  const genuine = checks.passed('certificate_chain', 'quoting_enclave', 'signature', 'collateral', 'enclave_identity');
  const measurement = toHex(await sha(384, concatenate(...parsed.registers.slice(0, 4))));
  return { ...checks.conclude(), platform: 'tdx', ...unproven, ...(genuine && { measurement, tcb }) };
}

/**
 * Verifies the collateral of a family of machines without a quote: Intel's documents, both revocation lists, and that no list revokes the
 * certificates by which they are signed.
 * @returns the family, the authority whose revocation list it has, and the time at which its first part runs out
 * @throws Refusal with what does not hold
 */
export async function verifyCollateral(collateral: WholeCollateral, now: Date) {
  const roots = parseCertificates(bytesOfBase64(intelRoot, 'a certificate'));
  const { signers } = await readDocuments(collateral, roots, now);
  const [authority] = parseCertificates(new TextEncoder().encode(collateral.pck_crl_issuer_chain));
  demand(authority !== undefined, 'pck_crl has no certificate of its issuer');
  const root = await checkChain([authority], roots);
  const isOfPlatforms = /^Intel SGX PCK (?:Platform|Processor) CA$/.test(authority.commonName);
  demand(isOfPlatforms, `pck_crl is of ${quote(authority.commonName)}, not of an authority for platforms`);
  checkValidity([authority, root], now);
  await checkRevocation(bytesOfHex(collateral.pck_crl, 'pck_crl'), authority, [], now);
  await checkRevocation(bytesOfHex(collateral.root_ca_crl, 'root_ca_crl'), root, [authority, ...signers], now);
  return validityOf(collateral);
}

type Platform = Awaited<ReturnType<typeof readPlatform>>[0];

async function readPlatform({ certificates }: TdxQuote, roots: readonly Certificate[]) {
  const [leaf, authority] = certificates;
  demand(leaf !== undefined && authority !== undefined, 'it does not contain the certificates of its platform');
  const root = await checkChain([leaf, authority], roots);
  demand(leaf.commonName === 'Intel SGX PCK Certificate', `${quote(leaf.commonName)} is not the certificate of a platform`);
  const chain = [leaf, authority, root] as const;
  return [{ chain, ...readExtension(leaf) }, describeChain(chain)] as const;
}

/** The object identifier of Intel's extension (Intel's "SGX PCK Certificate and CRL Profile", section 1.3.5). */
const intel = '1.2.840.113741.1.13.1';

/**
 * Reads Intel's extension of a platform certificate: the family of the machine and its security versions. The extension consists
 * of pairs of a name and a value, which may be pairs again.
 * @throws Refusal if the extension is malformed
 */
function readExtension({ extensions }: Certificate) {
  const extension = extensions.get(intel);
  demand(extension !== undefined, 'the certificate of the platform lacks the extension of Intel');
  const pair = ({ content }: Element): [string, Bytes] => {
    const [name, value] = elements(content);
    demand(name !== undefined && value !== undefined, 'the extension of Intel is malformed');
    return [oid(name), value.bytes];
  };
  const pairs = (bytes: Bytes) => new Map(parts(bytes).map(pair));
  const value = (of: ReadonlyMap<string, Bytes>, name: string): Bytes => {
    const found = of.get(`${intel}.${name}`);
    demand(found !== undefined, `the extension of Intel lacks ${name}`);
    return found;
  };
  const octets = (bytes: Bytes, length: number): Bytes => {
    const { content } = element(bytes, tags.octets);
    demand(content.length === length, `the extension of Intel has ${content.length} bytes where there should be ${length}`);
    return content;
  };
  const all = pairs(extension);
  const tcb = pairs(value(all, '2'));
  return {
    fmspc: toHex(octets(value(all, '4'), 6)),
    pceId: toHex(octets(value(all, '3'), 2)),
    pceSvn: smallInteger(value(tcb, '2.17')),
    cpuSvn: octets(value(tcb, '2.18'), 16),
  };
}

/**
 * Checks that the platform signed the report of the quoting enclave, and that the report is for the key by which the enclave
 * signed the quote.
 * @throws Refusal if not
 */
async function checkQuotingEnclave({ enclave, attestationKey }: TdxQuote, { chain: [leaf] }: Platform): Promise<string> {
  const holds = await verifyEcdsa('P-256', leaf.publicKey, enclave.signature, enclave.bytes);
  demand(holds, 'the report of the quoting enclave is not signed by the platform');
  const { reportData } = parseEnclaveReport(enclave.bytes);
  const hash = await sha(256, concatenate(attestationKey.slice(1), enclave.authenticationData));
  demand(isEqual(reportData, concatenate(hash, new Uint8Array(32))), 'the report of the quoting enclave is for another key');
  return 'the platform vouches for the quoting enclave and its key';
}

/**
 * Returns the newest collateral of a platform's family whose documents hold and whose revocation list is of the platform's own authority. Says
 * which newer ones were left out. What a list revokes is checked later: a list that revokes the platform is not left out for it. If no list is
 * right, returns the newest collateral whose documents hold.
 * @throws Refusal with what failed for each collateral, if the documents of none hold
 */
async function readCollateral(platform: Platform, roots: readonly Certificate[], options: VerifyOptions) {
  const all = collateralFor(platform.fmspc, options.collateral ?? []).slice(0, mostTried);
  const leftOut: string[] = [];
  let withOtherLists: VerifiedCollateral | undefined;
  const chosen = (verified: VerifiedCollateral, detail: string) => {
    options.onCollateral?.(verified.collateral);
    const others = leftOut.length === 0 ? '' : `; left out, though newer: ${leftOut.join('; ')}`;
    return [verified, `Intel's documents are of ${quote(verified.tcbInfo.issueDate)}${detail}${others}`] as const;
  };
  for (const collateral of all) {
    try {
      const verified = await readDocuments(collateral, roots, options.now);
      const { pceId } = verified.tcbInfo;
      demand(pceId.toLowerCase() === platform.pceId, `the collateral is for the PCE ${quote(pceId)}, not ${platform.pceId}`);
      withOtherLists ??= verified;
      const [, authority, root] = platform.chain;
      await checkRevocation(bytesOfHex(collateral.pck_crl, 'pck_crl'), authority, [], options.now);
      await checkRevocation(bytesOfHex(collateral.root_ca_crl, 'root_ca_crl'), root, [], options.now);
      return chosen(verified, `, valid until ${validityOf(collateral).expires.toISOString()}`);
    } catch (error) {
      leftOut.push(error instanceof Error ? error.message : 'it failed');
    }
  }
  if (withOtherLists) return chosen(withOtherLists, '');
  if (all[0]) options.onCollateral?.(all[0]);
  throw new Refusal(leftOut.join('; '));
}

/**
 * Checks a TDX quote against Intel's collateral: that no certificate is revoked, and what Intel says of the versions of platform,
 * TDX module and quoting enclave.
 * @returns the security versions, or null if the enclave or the module is not Intel's
 */
async function checkAgainst(
  { collateral, tcbInfo, identity, signers }: VerifiedCollateral,
  checks: Checks<(typeof names)[number]>,
  parsed: TdxQuote,
  platform: Platform,
  now: Date,
): Promise<TdxTcb | null> {
  await checks.run('revocation', async () => {
    const [leaf, authority, root] = platform.chain;
    await checkRevocation(bytesOfHex(collateral.pck_crl, 'pck_crl'), authority, [leaf], now);
    await checkRevocation(bytesOfHex(collateral.root_ca_crl, 'root_ca_crl'), root, [authority, root, ...signers], now);
    return 'no certificate is revoked';
  });
  const enclave = await checks.produce('enclave_identity', () => checkEnclaveIdentity(parsed, identity));
  const module = await checks.produce('module_identity', () => checkModuleIdentity(parsed, tcbInfo));
  if (enclave === undefined || module === undefined) return null;
  let tcb: TdxTcb | null = null;
  await checks.run('tcb_status', () => {
    const statuses = { platform: matchPlatform(parsed, platform, tcbInfo), module, enclave };
    const outdated = Object.entries(statuses).filter(([, { status }]) => status !== 'UpToDate');
    tcb = {
      status: statusOfAll(statuses),
      tee_tcb_svn: toHex(parsed.teeTcbSvn),
      advisories: [...new Set(Object.values(statuses).flatMap(({ advisories }) => advisories))],
    };
    const sayings = outdated.map(([part, { status }]) => `Intel says that the ${part} is ${quote(status)}`);
    demand(outdated.length === 0, sayings.join(', '));
    return 'Intel says that platform, module and quoting enclave are up to date';
  });
  return tcb;
}

/**
 * Returns the one status of a machine whose platform, TDX module and quoting enclave have the given ones, as Intel's Quote
 * Verification Library converges them: what is revoked is revoked, and a module or an enclave that is out of date makes the whole
 * out of date, with or without the need of another configuration.
 * @throws Refusal if Intel gives the module or the enclave a status that this rule does not know
 */
function statusOfAll({ platform, module, enclave }: Record<'platform' | 'module' | 'enclave', Status>): string {
  const others = [module.status, enclave.status];
  const areKnown = others.every((status) => ['UpToDate', 'OutOfDate', 'Revoked'].includes(status));
  demand(areKnown, `Intel gives the TDX module or the quoting enclave a status that is unknown: ${quote(others)}`);
  if (others.includes('Revoked')) return 'Revoked';
  if (!others.includes('OutOfDate') || platform.status === 'Revoked') return platform.status;
  return platform.status.includes('Configuration') ? 'OutOfDateConfigurationNeeded' : 'OutOfDate';
}

interface Status {
  status: string;
  advisories: string[];
}

function statusOf(level: Level<unknown> | undefined, what: string): Status {
  demand(level !== undefined, `Intel lists no version of the ${what} that is this old`);
  return { status: level.tcbStatus, advisories: level.advisoryIDs ?? [] };
}

function checkEnclaveIdentity({ enclave }: TdxQuote, identity: EnclaveIdentity): [Status, string] {
  const { miscSelect, attributes, signer, product, version } = parseEnclaveReport(enclave.bytes);
  const genuine =
    isEqual(signer, bytesOfHex(identity.mrsigner, 'mrsigner')) &&
    product === identity.isvprodid &&
    equalUnderMask(miscSelect, identity.miscselect, identity.miscselectMask) &&
    equalUnderMask(attributes, identity.attributes, identity.attributesMask);
  demand(genuine, "the quoting enclave is not Intel's");
  const level = identity.tcbLevels.find(({ tcb }) => version >= tcb.isvsvn);
  return [statusOf(level, 'quoting enclave'), "the quoting enclave is Intel's"];
}

/**
 * Checks that the TDX module is Intel's, and returns Intel's status of its version. The document of Intel lists modules by their
 * major version, and those of major version 0 have no list.
 * @throws Refusal if the module is not Intel's
 */
function checkModuleIdentity({ teeTcbSvn, moduleSigner, moduleAttributes }: TdxQuote, tcbInfo: TcbInfo): [Status, string] {
  const [version = 0, major = 0] = teeTcbSvn;
  const id = `TDX_${toHex(Uint8Array.of(major)).toUpperCase()}`;
  const listed = tcbInfo.tdxModuleIdentities?.find((identity) => identity.id.toUpperCase() === id);
  demand(major === 0 || listed !== undefined, `Intel lists no TDX module ${id}`);
  const { mrsigner, attributes, attributesMask } = listed ?? tcbInfo.tdxModule;
  const genuine =
    isEqual(moduleSigner, bytesOfHex(mrsigner, 'mrsigner')) && equalUnderMask(moduleAttributes, attributes, attributesMask);
  demand(genuine, "the TDX module is not Intel's");
  if (listed === undefined || major === 0) return [{ status: 'UpToDate', advisories: [] }, "the TDX module is Intel's"];
  const level = listed.tcbLevels.find(({ tcb }) => version >= tcb.isvsvn);
  return [statusOf(level, 'TDX module'), `the TDX module is Intel's, ${id}`];
}

/**
 * Returns Intel's status of the platform: that of the first level in `tcbLevels` whose least versions the platform reaches. The
 * versions of the TDX module count here only if no list of modules has them.
 * @throws Refusal if no level is reached
 */
function matchPlatform({ teeTcbSvn }: TdxQuote, { cpuSvn, pceSvn }: Platform, { tcbLevels }: TcbInfo): Status {
  const reaches = (versions: Bytes, components: { svn: number }[], from = 0) =>
    components.length === 16 && components.every(({ svn }, at) => at < from || (versions[at] ?? -1) >= svn);
  const firstComponent = (teeTcbSvn[1] ?? 0) > 0 ? 2 : 0;
  const fits = ({ pcesvn, sgxtcbcomponents, tdxtcbcomponents }: TcbInfo['tcbLevels'][number]['tcb']) =>
    pceSvn >= pcesvn && reaches(cpuSvn, sgxtcbcomponents) && reaches(teeTcbSvn, tdxtcbcomponents, firstComponent);
  const level = tcbLevels.find(({ tcb }) => fits(tcb));
  return statusOf(level, 'platform');
}

const septVeDisable = 1n << 28n;
/**
 * The attribute bits that a TDX guest may have besides debugging (Intel's "TDX DCAP Quoting Library API", A.3.4):
 * SEPT_VE_DISABLE, PKS, KL, and PERFMON.
 */
const knownAttributes = septVeDisable | (1n << 30n) | (1n << 31n) | (1n << 63n);

function checkAttributes(attributes: Bytes, needed: bigint): string {
  const all = BigInt(`0x${toHex(attributes.toReversed())}`);
  demand((all & ~(knownAttributes | 1n)) === 0n, `the attributes ${toHex(attributes)} have unknown bits`);
  demand((all & needed) === needed, 'the attributes let the host inject exceptions (SEPT_VE_DISABLE is not set)');
  return 'the attributes have no unknown bits';
}
