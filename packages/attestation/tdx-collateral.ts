import { timeOf } from 'computation-management-formats/timestamps';
import { type Bytes, demand, bytesOfHex, quote } from './evidence-bytes.ts';
import {
  type Certificate,
  checkChain,
  checkValidity,
  parseCertificates,
  parseRevocationList,
  verifyEcdsa,
} from './certificates.ts';

/**
 * The collateral of a family of TDX machines: documents of Intel about it ("Intel SGX and Intel TDX Provisioning Certification
 * Service", version 4, TCB Info and Enclave Identity), in the form of Intel's QuoteCollateral and of dcap-qvl. Certificates are in PEM, revocation lists and signatures in hex, and the signed documents are the text that was
 * signed.
 */
export type TdxCollateral = Record<'root_ca_crl' | 'pck_crl' | Document | `${Document}_${'issuer_chain' | 'signature'}`, string>;
type Document = 'tcb_info' | 'qe_identity';

/** Collateral with the certificate of the issuer of `pck_crl`, which quotes have too: without a quote, the list is verified by it. */
export type WholeCollateral = TdxCollateral & Record<'pck_crl_issuer_chain', string>;

/**
 * A set of least security versions from a document of Intel, with the status and advisories of a platform that reaches these
 * versions.
 */
export interface Level<Tcb> {
  tcb: Tcb;
  tcbStatus: string;
  advisoryIDs?: string[];
}

type ModuleIdentity = Record<'mrsigner' | 'attributes' | 'attributesMask', string>;

interface Published {
  id: string;
  version: number;
  issueDate: string;
  nextUpdate: string;
}

export interface TcbInfo extends Published {
  fmspc: string;
  pceId: string;
  tdxModule: ModuleIdentity;
  tdxModuleIdentities?: (ModuleIdentity & { id: string; tcbLevels: Level<{ isvsvn: number }>[] })[];
  tcbLevels: Level<{ pcesvn: number; sgxtcbcomponents: { svn: number }[]; tdxtcbcomponents: { svn: number }[] }>[];
}

export interface EnclaveIdentity extends Published, ModuleIdentity {
  miscselect: string;
  miscselectMask: string;
  isvprodid: number;
  tcbLevels: Level<{ isvsvn: number }>[];
}

/**
 * Returns the collateral for a family of TDX machines, the newest first.
 * @param fmspc the identifier of the family, in lower-case hex
 * @throws Refusal if there is none
 */
export function collateralFor(fmspc: string, all: readonly TdxCollateral[]): TdxCollateral[] {
  const fitting = all.flatMap((collateral) => {
    const { fmspc: its, issueDate } = infoOf(collateral);
    return String(its).toLowerCase() === fmspc ? [{ collateral, issued: timeOf(String(issueDate)) }] : [];
  });
  demand(fitting.length > 0, `there is no collateral for the platform family (FMSPC) ${fmspc}`);
  return fitting.sort((one, other) => other.issued - one.issued).map(({ collateral }) => collateral);
}

/** Returns the members of a TCB Info that was not verified. Empty if it is no JSON object. */
function infoOf({ tcb_info }: TdxCollateral): Partial<TcbInfo> {
  try {
    return Object(JSON.parse(tcb_info)) as Partial<TcbInfo>;
  } catch {
    return {};
  }
}

/** The collateral of a family of machines after its documents were verified. */
export type VerifiedCollateral = Awaited<ReturnType<typeof readDocuments>>;

/**
 * Verifies both documents of a collateral up to Intel's root, and that they are up to date.
 * @returns the documents, and `signers`, the certificates by which Intel signed them
 * @throws Refusal with what does not hold
 */
export async function readDocuments(collateral: TdxCollateral, roots: readonly Certificate[], now: Date) {
  const first = await readPublished(collateral, 'tcb_info', 'TDX', roots, now);
  const second = await readPublished(collateral, 'qe_identity', 'TD_QE', roots, now);
  const [tcbInfo, identity] = [first.content as TcbInfo, second.content as EnclaveIdentity];
  demand(tcbInfo.version === 3 && identity.version === 2, 'the documents of Intel are of an unknown version');
  return { collateral, tcbInfo, identity, signers: [first.signer, second.signer] };
}

/**
 * Returns what collateral that was verified before is for, and when its first document or revocation list runs out: the family (FMSPC) and the
 * authority whose list it has.
 * @throws Refusal or SyntaxError if a document or a list cannot be read
 */
export function validityOf(collateral: TdxCollateral): { fmspc: string; authority: string; expires: Date } {
  const [info, identity] = [collateral.tcb_info, collateral.qe_identity].map((text) => JSON.parse(text) as TcbInfo);
  const lists = [collateral.pck_crl, collateral.root_ca_crl].map((list) =>
    parseRevocationList(bytesOfHex(list, 'a revocation list')),
  );
  const ends = [info?.nextUpdate, identity?.nextUpdate].map((text) => timeOf(String(text)));
  const expires = new Date(Math.min(...ends, ...lists.map(({ nextUpdate }) => Number(nextUpdate))));
  return { fmspc: String(info?.fmspc).toLowerCase(), authority: lists[0]?.issuerName ?? '', expires };
}

/**
 * Checks that Intel signed a document of the collateral, and that the document is up to date.
 * @param id the member `id` that the document must have
 * @returns the parsed document, and the certificate that signed it
 * @throws Refusal with what does not hold
 */
async function readPublished(of: TdxCollateral, name: Document, id: string, roots: readonly Certificate[], now: Date) {
  const text = of[name];
  const [signer] = parseCertificates(new TextEncoder().encode(of[`${name}_issuer_chain`]));
  demand(signer !== undefined, 'it has no certificate of its issuer');
  const root = await checkChain([signer], roots);
  demand(signer.commonName === 'Intel SGX TCB Signing', `${quote(signer.commonName)} does not sign such documents`);
  checkValidity([signer, root], now);
  const signature: Bytes = bytesOfHex(of[`${name}_signature`], 'its signature');
  const isSigned = await verifyEcdsa('P-256', signer.publicKey, signature, new TextEncoder().encode(text));
  demand(isSigned, `the document ${id} is not signed by Intel`);
  const content = JSON.parse(text) as Published;
  demand(content.id === id, `the document is ${quote(content.id)}, not ${id}`);
  const current = Number(now) >= timeOf(content.issueDate) && Number(now) <= timeOf(content.nextUpdate);
  const dates = `it is of ${quote(content.issueDate)}, next update ${quote(content.nextUpdate)}`;
  demand(current, `the document ${id} is not up to date: ${dates}`);
  return { content, signer };
}
