import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { ensure } from '../../tools/demo/ensure.ts';
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

export type KeyKind = 'ed25519' | 'rsa' | 'ec';

export interface RunInputs {
  /** A program of the type `python`, or else a script with its interpreter. Default: sums the numbers of all datasets. */
  algorithm?: string;
  /** The options of `cms send` that say what the algorithm is. Default: none. */
  sentAs?: string[];
  /** The options of `cms` that say which agent is the right one. Default: `--unbound`. */
  agent?: string[];
  /** Of the computation. Default: none. */
  agentConfig?: Record<string, unknown>;
  /** Default: one. */
  datasets?: number;
  /** The kind of the participant's key. Default ed25519. */
  keys?: KeyKind;
}

const sum = "#!/bin/sh\ncat datasets/*.csv | awk '{ total += $1 } END { print total }' > results/sum.txt\n";

const cms = join(import.meta.dirname, '../../packages/cms/bin/cms.js');

/** A computation with real content, and its only participant, who sends and fetches with `cms`. */
export class RehearsedRun {
  readonly computationId: string;
  readonly directory: string;
  private readonly service: RehearsedService;
  private readonly datasets: string[];
  private readonly sentAs: string[];
  private readonly agent: string[];

  private constructor(
    { service, directory }: { service: RehearsedService; directory: string },
    given: { computationId: string; datasets: string[]; sentAs: string[]; agent: string[] },
  ) {
    this.service = service;
    this.directory = directory;
    this.computationId = given.computationId;
    this.datasets = given.datasets;
    this.sentAs = given.sentAs;
    this.agent = given.agent;
  }

  /** Creates the computation and all that a run of it needs. */
  static async prepare(
    service: RehearsedService,
    directory: string,
    { algorithm = sum, sentAs = [], agent = ['--unbound'], agentConfig, datasets = 1, keys = 'ed25519' }: RunInputs = {},
  ): Promise<RehearsedRun> {
    mkdirSync(directory, { recursive: true });
    const given = { name: 'Sum', ...(agentConfig ? { agent_config: agentConfig } : {}) };
    const { id } = await service.ask('POST', '/d1/computations', given);
    const computationId = String(id);
    const { publicKey, privateKey } = generate(keys);
    const pem = publicKey.export({ format: 'pem', type: 'spki' });
    await service.ask('POST', `/d1/computations/${computationId}/key`, { key: Buffer.from(pem).toString('base64') });
    writeFileSync(join(directory, 'key.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
    const names = Array.from({ length: datasets }, (_, index) => `numbers-${index + 1}.csv`);
    const files = [
      { name: 'sum.sh', type: 'algorithm', content: algorithm },
      ...names.map((name, index) => ({ name, type: 'dataset', content: `${index + 1}\n1000\n` })),
    ];
    for (const { name, type, content } of files) {
      writeFileSync(join(directory, name), content);
      const asset = { file_name: name, asset_type: type, asset: Buffer.from(content).toString('base64') };
      const created = await service.ask('POST', '/d1/assets', { asset });
      await service.ask('POST', `/d1/assets/${String(created['id'])}/${computationId}`);
    }
    return new RehearsedRun({ service, directory }, { computationId, datasets: names, sentAs, agent });
  }

  async start(cvmId: string): Promise<void> {
    await this.service.ask('POST', `/d1/computations/${this.computationId}/run?cvm=${cvmId}`);
  }

  async stop(): Promise<void> {
    await this.service.ask('POST', `/d1/computations/${this.computationId}/stop`);
  }

  /** What the algorithm must write: the sum of all numbers. */
  get expected(): string {
    const count = this.datasets.length;
    return String((count * (count + 1)) / 2 + 1000 * count);
  }

  /** Sends the algorithm and the datasets, as soon as the agent takes them. */
  async upload(): Promise<void> {
    await this.send('sum.sh', ...this.datasets);
  }

  async send(...names: string[]): Promise<void> {
    const files = names.map((name) => join(this.directory, name));
    await this.cms('send', ...files, '--yes', '--computation', this.computationId, ...this.sentAs, ...this.agent);
  }

  /** Fetches the result as its consumer. @throws Error if it is not the right one */
  async fetchResult(): Promise<void> {
    const file = join(this.directory, 'result.zip');
    await this.cms('result', this.computationId, '--output', file, ...this.agent);
    const found = [...unzip(readFileSync(file))].find(([name]) => name.endsWith('sum.txt'));
    const text = found?.[1].toString().trim();
    ensure(text === this.expected, `The result is ${JSON.stringify(text)}; expected ${this.expected}.`);
  }

  /** Judges the evidence of the agent. @returns the exit code of `cms attest`, and what it says */
  async attest(): Promise<{ code: number; said: string }> {
    return await this.call('attest', '--computation', this.computationId, ...this.agent).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      },
    );
  }

  private async cms(...args: string[]): Promise<void> {
    await this.call(...args, '--key', join(this.directory, 'key.pem'));
  }

  private async call(...args: string[]) {
    const env = { ...process.env, ...this.service.environment };
    return await promisify(execFile)(process.execPath, [cms, ...args], { env, timeout: 120_000 });
  }
}

function generate(kind: KeyKind): KeyPairKeyObjectResult {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 3072 });
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return generateKeyPairSync('ed25519');
}
