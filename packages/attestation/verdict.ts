import { type Bytes, demand, isEqual, isZero, sha, toHex } from './evidence-bytes.ts';
import type { TdxCollateral } from './tdx-collateral.ts';
/** The result of one check of attestation evidence. `detail` says what was found, or why the check failed. */
export interface Check {
  name: string;
  passed: boolean;
  detail: string;
}

export interface Verdict<Tcb = unknown> {
  /**
   * The outcome of the verification. `unsupported`: the evidence is of a kind, named by `platform`, that this package does not
   * know.
   */
  verdict: 'verified' | 'refused' | 'unsupported';
  platform: string;
  checks: Check[];
  /** The measurement of the guest, 96 hex digits. Null unless the signature and its certificates hold. */
  measurement: string | null;
  /** The security versions of the machine. Null unless the signature and its certificates hold. */
  tcb: Tcb | null;
  /**
   * The REPORT_ID of an SNP guest, 64 hex digits: the same from its launch to its end, and no other guest's. Null for TDX, and
   * unless the signature and its certificates hold.
   */
  guest: string | null;
  /** The privilege level, 0 to 3, from which an SNP guest asked for its report. Null for TDX, and unless the signature holds. */
  vmpl: number | null;
  /**
   * The values of the PCRs of a vTPM's bank of SHA-256, 64 hex digits each, by their number, `0` to `23`. Null without a vTPM, and unless the
   * chain from the hardware's report to the quote holds.
   */
  pcrs: Record<string, string> | null;
  /** The SHA-256 of the evidence that was verified, in hex. */
  token_hash: string;
}

/** The verdict on evidence without the hash of it. */
export type Unhashed<Tcb = unknown> = Omit<Verdict<Tcb>, 'token_hash'>;

/** The members of a verdict that evidence proves, as they are where nothing is proven. */
export const unproven = { measurement: null, tcb: null, guest: null, vmpl: null, pcrs: null };

/**
 * The checks of one verification of evidence, in order. The verdict is `verified` only if a check with each of the given names
 * has run and passed.
 */
export class Checks<Name extends string> {
  readonly list: Check[] = [];
  readonly #names: readonly Name[];

  constructor(names: readonly Name[]) {
    this.#names = names;
  }

  /**
   * Runs a check and records its result. The check returns what it found, and fails by throwing an error, whose message is
   * recorded.
   */
  async run(name: Name, check: () => string | Promise<string>): Promise<void> {
    try {
      this.list.push({ name, passed: true, detail: await check() });
    } catch (error) {
      this.list.push({ name, passed: false, detail: error instanceof Error ? error.message : 'It failed.' });
    }
  }

  /**
   * Runs a check and returns a value that it made for later checks, besides the text of what it found.
   * @returns undefined if the check fails
   */
  async produce<Value>(
    name: Name,
    check: () => readonly [Value, string] | Promise<readonly [Value, string]>,
  ): Promise<Value | undefined> {
    let value: Value | undefined;
    await this.run(name, async () => {
      const [product, detail] = await check();
      value = product;
      return detail;
    });
    return value;
  }

  /** Records the result of a check that is known already, with `detail` if it passed and else with `otherwise`. */
  fact(name: Name, passed: boolean, detail: string, otherwise: string): void {
    this.list.push({ name, passed, detail: passed ? detail : otherwise });
  }

  /**
   * Records a note that the certificate chain ends at a root which the options name, unless the root is of a maker of machines
   * (AMD or Intel).
   */
  noteTestRoot(isOfMaker: boolean): void {
    const detail = 'the root is not one of AMD or Intel, but one given in their place: this proves nothing about the machine';
    if (!isOfMaker) this.list.push({ name: 'test_root', passed: true, detail });
  }

  passed(...names: Name[]): boolean {
    return names.every((name) => this.list.some((check) => check.name === name && check.passed));
  }

  /** Returns the verdict and all checks. Checks that could not run count as failed. */
  conclude(): { verdict: 'verified' | 'refused'; checks: Check[] } {
    const checks = this.#names.map((name) => {
      const ran = this.list.find((check) => check.name === name);
      return ran ?? { name, passed: false, detail: 'not checked, because an earlier check failed' };
    });
    const notes = this.list.filter(({ name }) => name === 'test_root');
    return { verdict: checks.every(({ passed }) => passed) ? 'verified' : 'refused', checks: [...checks, ...notes] };
  }
}

/**
 * A thing that evidence must be bound to: the certificate of an agent, its PEM file byte for byte, or a nonce of 32 to 64 bytes. `boundValues` has
 * the values that evidence contains for it.
 */
export type Binding = { certificate: string | Uint8Array } | { nonce: Uint8Array };

export interface VerifyOptions {
  /** The certificate or nonce that the evidence must be bound to. Null: there is none, so the check `report_data` fails. */
  boundTo: Binding | null;
  /** The time at which the certificates and Intel's collateral have to be valid. */
  now: Date;
  /** Certificates for SNP that the evidence lacks, such as a VCEK from AMD's key server. DER or PEM. */
  certificates?: readonly Uint8Array[];
  /** Intel's documents for TDX. The newest ones for the family of the machine are used. */
  collateral?: readonly TdxCollateral[];
  /** Called with the TDX collateral that is chosen for the machine, before it is verified. */
  onCollateral?: (collateral: TdxCollateral) => void;
}

/**
 * Root certificates to trust in place of those of AMD and Intel, in DER or PEM. Undefined: those of AMD and Intel. Only `test-roots.ts`
 * gives others.
 */
export type TestRoots = readonly Uint8Array[] | undefined;

/** The detail of a check that fails because no certificate and no nonce was given to compare evidence with. */
export const nothingToCompare = 'there is no certificate and no nonce to compare it with';

/**
 * Returns the values that evidence contains if it is bound to a certificate or nonce: 64 bytes of report data, and the nonce of the quote of
 * a TPM. Of a certificate, these are its SHA-512 and its SHA-256; of a nonce, itself with zeros at the end.
 * @throws Refusal if there is nothing to compare with; RangeError if the nonce has fewer than 32 or more than 64 bytes, or only zeros
 */
export async function boundValues(boundTo: Binding | null): Promise<{ what: string; reportData: Bytes; quoteNonce: Bytes }> {
  demand(boundTo !== null, nothingToCompare);
  if ('certificate' in boundTo) {
    const { certificate } = boundTo;
    const pem = typeof certificate === 'string' ? new TextEncoder().encode(certificate) : new Uint8Array(certificate);
    return { what: 'the hash of the certificate', reportData: await sha(512, pem), quoteNonce: await sha(256, pem) };
  }
  const { nonce } = boundTo;
  if (nonce.length < 32 || nonce.length > 64) throw new RangeError(`A nonce has 32 to 64 bytes, not ${nonce.length}.`);
  if (isZero(nonce)) throw new RangeError('A nonce of zeros is no nonce.');
  const data = new Uint8Array(64);
  data.set(nonce);
  return { what: 'the nonce', reportData: data, quoteNonce: data };
}

export async function checkReportData(reportData: Bytes, boundTo: Binding | null): Promise<string> {
  const { what, reportData: expected } = await boundValues(boundTo);
  demand(isEqual(reportData, expected), `it is ${toHex(reportData)}, not ${what}, ${toHex(expected)}`);
  return `it is ${what}`;
}
