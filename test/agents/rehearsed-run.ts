import { createHash } from 'node:crypto';
import { openSync, readFileSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { ok as ensure } from 'node:assert';
import { type KeyKind, RehearsedParty } from './rehearsed-party.ts';
import type { RehearsedService } from './rehearsed-service.ts';

/** Reads the files of a ZIP archive, as an agent packs its results: stored or deflated, less than 4 GiB. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  if (end < 0) throw new Error('The result is no ZIP archive.');
  let place = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const method = archive.readUInt16LE(place + 10);
    const size = archive.readUInt32LE(place + 20);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => archive.readUInt16LE(place + offset));
    const name = archive.toString('utf8', place + 46, place + 46 + (nameLength ?? 0));
    const header = archive.readUInt32LE(place + 42);
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const content = archive.subarray(start, start + size);
    files.set(name, method === 8 ? inflateRawSync(content) : content);
    place += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}

export interface RunInputs {
  /** A program of the type `python`, or else a script with its interpreter. Default: sums the numbers of all datasets. */
  algorithm?: string;
  /** The options of `cms send` that say what the algorithm is. Default: none. */
  sentAs?: string[];
  /** The options of `cms` that say which agent is the right one. Default: `--unbound`. */
  agent?: string[];
  /** The `agent_config` of the computation. Default: none. */
  agentConfig?: Record<string, unknown>;
  /** The `attestation_policy` of the computation. Default: none. */
  policy?: object;
  /** More fields of the computation. Default: none. */
  fields?: object;
  /** Default: one. */
  datasets?: number;
  /** The kind of the participant's key. Default ed25519. */
  keys?: KeyKind;
  /** Another dataset, `large.bin` of so many MiB, of which the service gets a sample. The result is its SHA-256. Default: none. */
  large?: number;
  /** True if the agent fetches the files itself, so that nobody sends them. Default: false. */
  isPulled?: boolean;
  /** The text that the algorithm must write. Default: the sum of all numbers. */
  expected?: string;
}

const hashLarge = "#!/bin/sh\nsha256sum datasets/large.bin | cut -d' ' -f1 > results/sum.txt\n";
const sum = "#!/bin/sh\ncat datasets/*.csv | awk '{ total += $1 } END { print total }' > results/sum.txt\n";

/** A computation with real content, and its only participant, who approves, sends and fetches with `cms`. */
export class RehearsedRun {
  readonly computationId: string;
  readonly directory: string;
  readonly alice: RehearsedParty;
  private readonly service: RehearsedService;
  private readonly datasets: string[];
  private readonly sentAs: string[];
  readonly agent: string[];
  /** The text that the algorithm must write. */
  readonly expected: string;

  private constructor(
    { service, directory, alice }: { service: RehearsedService; directory: string; alice: RehearsedParty },
    given: { computationId: string; datasets: string[]; sentAs: string[]; agent: string[]; expected: string },
  ) {
    this.service = service;
    this.directory = directory;
    this.alice = alice;
    this.computationId = given.computationId;
    this.datasets = given.datasets;
    this.sentAs = given.sentAs;
    this.agent = given.agent;
    this.expected = given.expected;
  }

  /** Creates the computation and all that a run of it needs. */
  static async prepare(service: RehearsedService, directory: string, inputs: RunInputs = {}): Promise<RehearsedRun> {
    const { large, sentAs = [], agent = ['--unbound'], datasets = large ? 0 : 1, keys = 'ed25519' } = inputs;
    const { algorithm = large ? hashLarge : sum } = inputs;
    const alice = await RehearsedParty.join(service, join(directory, 'alice'), { user: 'alice', keys });
    const given = {
      name: 'Sum',
      agent_config: inputs.agentConfig ?? {},
      attestation_policy: inputs.policy ?? null,
      ...inputs.fields,
    };
    const { id } = await service.ask('POST', '/d1/computations', given);
    const computationId = String(id);
    await alice.cms('key', 'upload', alice.publicKey, computationId);
    const names = Array.from({ length: datasets }, (_, index) => `numbers-${index + 1}.csv`);
    const files = [
      { name: 'sum.sh', type: 'algorithm', content: algorithm },
      ...names.map((name, index) => ({ name, type: 'dataset', content: `${index + 1}\n1000\n` })),
    ];
    for (const { name, type, content } of inputs.isPulled ? [] : files) {
      writeFileSync(join(directory, name), content);
      const asset = { file_name: name, asset_type: type, asset: Buffer.from(content).toString('base64') };
      const created = await service.ask('POST', '/d1/assets', { asset });
      await service.ask('POST', `/d1/assets/${String(created['id'])}/${computationId}`);
    }
    let expected = inputs.expected ?? String((datasets * (datasets + 1)) / 2 + 1000 * datasets);
    if (large !== undefined) {
      const { sha256, checksum } = writeLarge(join(directory, 'large.bin'), large);
      const asset = { file_name: 'large.bin', asset_type: 'dataset', checksum };
      const { id: assetId } = await service.ask('POST', '/d1/assets', { asset });
      writeFileSync(join(directory, 'sample.bin'), 'a sample');
      await alice.cms('asset', 'upload', join(directory, 'sample.bin'), '--asset', String(assetId));
      await service.ask('POST', `/d1/assets/${String(assetId)}/${computationId}`);
      names.push('large.bin');
      expected = sha256;
    }
    return new RehearsedRun({ service, directory, alice }, { computationId, datasets: names, sentAs, agent, expected });
  }

  /** Approves what the run would use, and starts it. */
  async start(cvmId: string): Promise<void> {
    await this.alice.cms('approve', this.computationId, '--yes');
    await this.startUnapproved(cvmId);
  }

  async startUnapproved(cvmId: string): Promise<void> {
    await this.service.ask('POST', `/d1/computations/${this.computationId}/run?cvm=${cvmId}`);
  }

  async stop(): Promise<void> {
    await this.service.ask('POST', `/d1/computations/${this.computationId}/stop`);
  }

  /** Sends the algorithm and the datasets, as soon as the agent takes them. */
  async upload(): Promise<void> {
    await this.send('sum.sh', ...this.datasets);
  }

  async send(...names: string[]): Promise<void> {
    await this.alice.cms(...this.sending(...names));
  }

  /** The words of `cms` that send these files. */
  sending(...names: string[]): string[] {
    const files = names.map((name) => join(this.directory, name));
    return ['send', ...files, '--computation', this.computationId, ...this.alice.key, ...this.sentAs, ...this.agent];
  }

  /** Fetches the result as its consumer. @throws Error if it is not the right one */
  async fetchResult(): Promise<void> {
    const file = join(this.directory, 'result.zip');
    await this.alice.cms('result', this.computationId, '--output', file, ...this.alice.key, ...this.agent);
    this.ensureResult(file);
  }

  ensureResult(file: string): void {
    const found = [...unzip(readFileSync(file))].find(([name]) => name.endsWith('sum.txt'));
    const text = found?.[1].toString().trim();
    ensure(text === this.expected, `The result is ${JSON.stringify(text)}; expected ${this.expected}.`);
  }

  /** Judges the evidence of the agent. @returns the exit code of `cms attest`, and what it says */
  async attest(): Promise<{ code: number; said: string }> {
    return await this.alice.cms('attest', '--computation', this.computationId, ...this.agent).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      },
    );
  }
}

/**
 * Writes a large file, of which each MiB differs from all others. Returns its SHA-256 and its SHA3-256 (`checksum`), as hex digits.
 */
function writeLarge(file: string, mebibytes: number): { sha256: string; checksum: string } {
  const [sha256, sha3] = [createHash('sha256'), createHash('sha3-256')];
  const part = Buffer.alloc(1024 * 1024, 'some numbers ');
  const opened = openSync(file, 'w');
  for (let at = 0; at < mebibytes; at += 1) {
    part.writeUInt32BE(at);
    writeSync(opened, part);
    sha256.update(part);
    sha3.update(part);
  }
  closeSync(opened);
  return { sha256: sha256.digest('hex'), checksum: sha3.digest('hex') };
}
