import { timeOf } from 'computation-management-formats/timestamps';
import { type Bytes, demand, bytesOfHex, quote } from './evidence-bytes.ts';
import { type Certificate, checkChain, checkValidity, parseCertificates, verifyEcdsa } from './certificates.ts';

/**
 * The collateral of a family of TDX machines: documents of Intel about it ("Intel SGX and Intel TDX Provisioning Certification
 * Service", version 4, TCB Info and Enclave Identity), in the form of Intel's QuoteCollateral and of dcap-qvl. Certificates are in PEM, revocation lists and signatures in hex, and the signed documents are the text that was
 * signed.
 */
export interface TdxCollateral {
  root_ca_crl: string;
  pck_crl: string;
  tcb_info_issuer_chain: string;
  tcb_info: string;
  tcb_info_signature: string;
  qe_identity_issuer_chain: string;
  qe_identity: string;
  qe_identity_signature: string;
}

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
 * Returns the newest collateral for a family of TDX machines.
 * @param fmspc the identifier of the family, in lower-case hex
 * @throws Refusal if there is none
 */
export function collateralFor(fmspc: string, all: readonly TdxCollateral[]): TdxCollateral {
  const fitting = all.flatMap((collateral) => {
    const info = JSON.parse(collateral.tcb_info) as Partial<TcbInfo>;
    return String(info.fmspc).toLowerCase() === fmspc ? [{ collateral, issued: timeOf(String(info.issueDate)) }] : [];
  });
  const [newest] = fitting.sort((one, other) => other.issued - one.issued);
  demand(newest !== undefined, `there is no collateral for the platform family (FMSPC) ${fmspc}`);
  return newest.collateral;
}

/**
 * Checks that Intel signed a document of the collateral, and that the document is up to date.
 * @returns the parsed document, and the certificate that signed it
 * @throws Refusal with what does not hold
 */
export async function readPublished(
  document: { id: string; text: string; signature: string; chain: string },
  roots: readonly Certificate[],
  now: Date,
): Promise<{ content: Published; signer: Certificate }> {
  const { id, text } = document;
  const [signer] = parseCertificates(new TextEncoder().encode(document.chain));
  demand(signer !== undefined, 'it has no certificate of its issuer');
  const root = await checkChain([signer], roots);
  demand(signer.commonName === 'Intel SGX TCB Signing', `${quote(signer.commonName)} does not sign such documents`);
  checkValidity([signer, root], now);
  const signature: Bytes = bytesOfHex(document.signature, 'its signature');
  demand(
    await verifyEcdsa('P-256', signer.publicKey, signature, new TextEncoder().encode(text)),
    `the document ${id} is not signed by Intel`,
  );
  const content = JSON.parse(text) as Published;
  demand(content.id === id, `the document is ${quote(content.id)}, not ${id}`);
  const current = Number(now) >= timeOf(content.issueDate) && Number(now) <= timeOf(content.nextUpdate);
  demand(
    current,
    `the document ${id} is not up to date: it is of ${quote(content.issueDate)}, next update ${quote(content.nextUpdate)}`,
  );
  return { content, signer };
}
