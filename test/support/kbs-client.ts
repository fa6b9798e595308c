import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { jsonOf } from '../packages/attestation/coco-json.ts';
import { forgeSnp } from '../packages/attestation/forge-snp.ts';
import { openJwe } from '../packages/key-release/open-jwe.ts';

/** The answer of a key broker: its status, and its body as JSON. */
export interface BrokerAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Makes a signed report of a machine, and the certificates that come with it. @param change makes the report that of the guest */
export type SignedReport = (change: (report: Buffer) => void) => { report: Buffer; certificates: Buffer[] };

/** Deviations of a client from the protocol. */
export interface Otherwise {
  /** Changes the report of the machine before it is signed. */
  report?: (report: Buffer) => void;
  /** Sends another body than the one of the protocol. */
  body?: (body: Record<string, unknown>) => unknown;
  /** Sends no certificate of the machine's chip. */
  withoutCertificates?: boolean;
}

/**
 * A client of the key broker protocol 0.4.0, written from its text: the attestation agent of Confidential Containers in a guest of SNP.
 * The machine, with the REPORT_ID of the guest, is forged unless another one is given.
 */
export class KbsClient {
  readonly url: string;
  readonly guest: Buffer;
  nonce = '';
  cookie = '';
  token = '';
  readonly tee: { publicKey: KeyObject; privateKey: KeyObject };
  private readonly signedReport: SignedReport;

  constructor(
    url: string,
    guest: Buffer,
    tee = generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    signedReport: SignedReport = (report) => forgeSnp({ report }),
  ) {
    this.url = url;
    this.guest = guest;
    this.tee = tee;
    this.signedReport = signedReport;
  }

  get teePublicKey(): Record<string, unknown> {
    const jwk = this.tee.publicKey.export({ format: 'jwk' });
    return { ...jwk, alg: jwk.kty === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW' };
  }

  /** Asks for a nonce, and keeps it with the cookie. */
  async auth(body: unknown = { version: '0.4.0', tee: 'snp', 'extra-params': { 'supported-hash-algorithms': ['sha384'] } }) {
    const answer = await this.send('POST', 'auth', JSON.stringify(body));
    if (answer.status === 200) this.nonce = String(answer.body['nonce']);
    return answer;
  }

  /** Sends evidence for the nonce, and keeps the token. */
  async attest(otherwise: Otherwise = {}): Promise<BrokerAnswer> {
    const answer = await this.send('POST', 'attest', JSON.stringify(this.attestBody(otherwise)));
    if (answer.status === 200) this.token = String(answer.body['token']);
    return answer;
  }

  attestBody({ report, body = (same) => same, withoutCertificates = false }: Otherwise = {}): unknown {
    const additional_evidence = '';
    const bound = { 'tee-pubkey': this.teePublicKey, nonce: this.nonce, 'additional-evidence': additional_evidence };
    const data = createHash('sha384')
      .update(canonicalize(bound) ?? '')
      .digest();
    const forged = this.signedReport((bytes) => {
      bytes.fill(0, 0x50, 0x90);
      data.copy(bytes, 0x50);
      this.guest.copy(bytes, 0x140);
      report?.(bytes);
    });
    const types = ['VCEK', 'ASK', 'ARK'];
    const chain = forged.certificates.map((data, index) => ({ cert_type: types[index], data: [...data] }));
    const certificates = withoutCertificates ? null : chain;
    return body({
      'init-data': null,
      'runtime-data': { nonce: this.nonce, 'tee-pubkey': this.teePublicKey },
      'tee-evidence': { primary_evidence: { ...jsonOf(forged.report, []), cert_chain: certificates }, additional_evidence },
    });
  }

  /** Asks for a key, as real clients do, with two slashes and the cookie. */
  async get(
    asset: string,
    { path = `resource//${asset}/key/1`, by = 'cookie' }: { path?: string; by?: 'cookie' | 'token' } = {},
  ): Promise<BrokerAnswer> {
    return await this.send('GET', path, undefined, by);
  }

  /** Decrypts a sealed key. */
  open(jwe: Record<string, unknown>): Buffer {
    return openJwe(jwe, this.tee.privateKey);
  }

  /** Attests and asks for a key: the whole handshake. */
  async fetch(asset: string): Promise<BrokerAnswer & { key?: string }> {
    for (const step of [() => this.auth(), () => this.attest()]) {
      const answer = await step();
      if (answer.status !== 200) return answer;
    }
    const answer = await this.get(asset);
    return answer.status === 200 ? { ...answer, key: this.open(answer.body).toString('base64') } : answer;
  }

  private async send(method: string, path: string, body?: string, by: 'cookie' | 'token' = 'cookie'): Promise<BrokerAnswer> {
    const credentials: Record<string, string> =
      by === 'token' ? { authorization: `Bearer ${this.token}` } : { cookie: this.cookie };
    const response = await fetch(`${this.url}/kbs/v0/${path}`, {
      method,
      headers: { ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
    const set = response.headers.getSetCookie().find((each) => each.startsWith('kbs-session-id='));
    if (set !== undefined) this.cookie = set.split(';')[0] ?? '';
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }
}
