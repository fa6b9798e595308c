import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { OptionsOfTest } from './by-test-roots.ts';
import { certificate, field, forgeSnp, messageOf, type SnpChange } from './forge-snp.ts';
import { bodyOf, forgeTdx, type TdxChange } from './forge-tdx.ts';

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const ofTpm = newKey();
export const anotherKey = newKey();

/** The differences of forged evidence of a vTPM from evidence that is right. */
export interface VtpmChange {
  snp?: SnpChange;
  /** Changes the public area of the key before anything is bound to it. */
  area?: (area: Buffer) => void;
  /** Replaces the public area of the key after the report was made. */
  otherArea?: Buffer;
  pcrs?: (pcrs: Buffer[]) => void;
  /** Changes the values of the PCRs beside the quote, after it was signed. */
  toldPcrs?: (pcrs: Map<number, Buffer>) => void;
  /** The nonce of the quote. Default: the SHA-256 of the certificate. */
  nonce?: Buffer;
  /** The 64 bytes that the report binds with the key. Default: the SHA-512 of the certificate. */
  bound?: Buffer;
  /** Changes the quote before it is signed. */
  quote?: (quote: Buffer) => void;
  /** Changes the quote after that. */
  signed?: (quote: Buffer) => void;
  signature?: (signature: Buffer) => void;
  signer?: ReturnType<typeof newKey>;
  /** The numbers of the PCRs that the quote is of. Default: all 24. */
  selected?: number;
  extra?: Buffer[];
  /** True: evidence without what no signature covers, but for the certificates at its end. */
  bare?: boolean;
}

const u8 = (...bytes: number[]) => Buffer.from(bytes);
function u16(value: number): Buffer {
  return u8(value >> 8, value & 0xff);
}
const u32 = (value: number) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex');
const sized = (bytes: Uint8Array) => Buffer.concat([u16(bytes.length), bytes]);

/** The public area of a key as a TPM writes it: RSA, SHA-256, attributes, no policy, no symmetric cipher, RSASSA with SHA-256. */
export function areaOf({ publicKey }: ReturnType<typeof newKey>): Buffer {
  const modulus = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url');
  const parts = [u16(1), u16(0x0b), u32(0x00050072), sized(Buffer.alloc(0)), u16(0x10), u16(0x14), u16(0x0b), u16(2048), u32(0)];
  return Buffer.concat([...parts, sized(modulus)]);
}

/** Makes a quote of PCRs, signed by a key of a TPM, and the PCRs. */
function forgeQuote(change: VtpmChange) {
  const { selected = 0xffffff, nonce = createHash('sha256').update(certificate).digest() } = change;
  const pcrs = Array.from({ length: 24 }, (_, number) => Buffer.alloc(32, number));
  change.pcrs?.(pcrs);
  const numbers = pcrs.flatMap((_, number) => (selected & (1 << number) ? [number] : []));
  const digest = createHash('sha256')
    .update(Buffer.concat(numbers.map((number) => pcrs[number] ?? u8())))
    .digest();
  const selection = Buffer.concat([u32(1), u16(0x0b), u8(3, selected & 0xff, (selected >> 8) & 0xff, selected >> 16)]);
  const head = [u32(0xff544347), u16(0x8018), sized(randomBytes(34)), sized(nonce), Buffer.alloc(25, 5)];
  const quote = Buffer.concat([...head, selection, sized(digest)]);
  change.quote?.(quote);
  const signature = sign('sha256', quote, (change.signer ?? ofTpm).privateKey);
  change.signature?.(signature);
  change.signed?.(quote);
  const told = new Map(numbers.map((number) => [number, pcrs[number] ?? u8()]));
  change.toldPcrs?.(told);
  return { quote, signature, pcrs: told };
}

/** Makes the evidence of an SNP guest with a vTPM, as go-tpm-tools writes it, and options that it satisfies. */
export function forgeSnpVtpm(change: VtpmChange = {}): { evidence: Buffer; options: OptionsOfTest; leaf: Buffer } {
  const area = areaOf(ofTpm);
  change.area?.(area);
  const { report, certificates, options } = forgeSnp({
    ...change.snp,
    report: (bytes) => {
      const bound = Buffer.concat([change.bound ?? createHash('sha512').update(certificate).digest(), area]);
      createHash('sha3-512').update(bound).digest().copy(bytes, 0x50);
      change.snp?.report?.(bytes);
    },
  });
  const { quote, signature, pcrs } = forgeQuote(change);
  const entries = [...pcrs].map(([number, value]) => field(2, Buffer.concat([field(1, number), field(2, value)])));
  const bank = Buffer.concat([field(1, 0x0b), ...entries]);
  const ofSha1 = field(2, Buffer.concat([field(1, u8(1)), field(2, u8(2)), field(3, field(1, 4))]));
  const signed = Buffer.concat([u16(0x14), u16(0x0b), sized(signature)]);
  const evidence = Buffer.concat([
    field(1, change.otherArea ?? area),
    ...(change.bare ? [] : [ofSha1]),
    field(2, Buffer.concat([field(1, quote), field(2, signed), field(3, bank)])),
    ...(change.bare ? [] : [field(3, Buffer.from('an event log'))]),
    field(8, messageOf(report, certificates)),
    ...(change.extra ?? []),
  ]);
  return { evidence, options: { ...options, certificates: [] }, leaf: certificates[0] ?? u8() };
}

export interface AzureChange extends VtpmChange {
  /** Makes a machine of TDX, with these differences. Default: one of SNP, with those in `snp`. */
  tdx?: TdxChange;
  /** Changes the runtime data before anything is bound to them. */
  runtime?: (data: { keys: Record<string, unknown>[]; 'user-data': string }) => void;
  /** Changes the report of the paravisor after that. */
  paravisor?: (report: Buffer) => void;
  json?: (evidence: Record<string, unknown>) => void;
}

/** Makes the report of an SNP machine over some report data, as Azure's evidence contains it. */
function azureSnp(change: SnpChange | undefined, data: Buffer) {
  const { report, certificates, options } = forgeSnp({
    ...change,
    report: (bytes) => {
      data.copy(bytes, 0x50);
      change?.report?.(bytes);
    },
  });
  const members = { vcek: certificates[0]?.toString('base64url') };
  return { report, type: 2, members, options: { ...options, certificates: certificates.slice(1) } };
}

/** Makes the quote of a TDX machine over some report data, as Azure's evidence contains it: of version 4, without attributes. */
function azureTdx(change: TdxChange, data: Buffer) {
  const { quote, options } = forgeTdx({
    version: 4,
    ...change,
    quote: (bytes) => {
      bytes.fill(0, bodyOf(bytes) + 120, bodyOf(bytes) + 128);
      data.copy(bytes, bodyOf(bytes) + 520);
      change.quote?.(bytes);
    },
  });
  return { report: Buffer.alloc(0x4a0, 3), type: 4, members: { td_quote: quote.toString('base64url') }, options };
}

/** Makes the evidence of a confidential VM on Azure, as the attestation agent of Confidential Containers writes it. */
export function forgeAzure(change: AzureChange = {}): { evidence: Buffer; options: OptionsOfTest } {
  const nonce = change.nonce ?? randomBytes(48);
  const { kty, n, e } = ofTpm.publicKey.export({ format: 'jwk' });
  const data = {
    keys: [
      { kid: 'HCLAkPub', key_ops: ['sign'], kty, n, e },
      { kid: 'HCLEkPub', kty, n, e },
    ],
    'user-data': Buffer.concat([nonce, Buffer.alloc(64)])
      .toString('hex', 0, 64)
      .toUpperCase(),
  };
  change.runtime?.(data);
  const runtime = Buffer.from(JSON.stringify(data));
  const bound = Buffer.concat([createHash('sha256').update(runtime).digest(), Buffer.alloc(32)]);
  const { report, type, members, options } = change.tdx ? azureTdx(change.tdx, bound) : azureSnp(change.snp, bound);
  const header = Buffer.alloc(32);
  header.write('HCLA');
  const numbers = [runtime.length + 20, 1, type, 1, runtime.length];
  const about = Buffer.concat(numbers.map((value) => u32(value).reverse()));
  const paravisor = Buffer.concat([header, report, about, runtime, Buffer.alloc(9)]);
  change.paravisor?.(paravisor);
  const { quote, signature, pcrs } = forgeQuote({ ...change, nonce });
  const json: Record<string, unknown> = {
    version: 2,
    tpm_quote: {
      message: quote.toString('hex'),
      signature: signature.toString('hex'),
      pcrs: [...pcrs.values()].map((value) => value.toString('hex')),
    },
    hcl_report: paravisor.toString('base64url'),
    ...members,
  };
  change.json?.(json);
  return {
    evidence: Buffer.from(JSON.stringify(json)),
    options: { ...options, boundTo: { nonce } },
  };
}
