import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RehearsedService } from './rehearsed-service.ts';

export type KeyKind = 'ed25519' | 'rsa' | 'ec';

const program = join(import.meta.dirname, '../../packages/cms/cms.ts');
const limits = { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 };

/** A user of `cms`, with a key and a profile of their own. */
export class RehearsedParty {
  readonly directory: string;
  private readonly service: RehearsedService;
  private readonly login: string[];
  private server: string | undefined;

  private constructor(service: RehearsedService, directory: string, login: string[]) {
    this.service = service;
    this.login = login;
    this.directory = directory;
  }

  static async join(
    service: RehearsedService,
    directory: string,
    { user, role = 'administrator', keys = 'ed25519' }: { user: string; role?: string; keys?: KeyKind },
  ): Promise<RehearsedParty> {
    mkdirSync(directory, { recursive: true });
    const { publicKey, privateKey } = generate(keys);
    const party = new RehearsedParty(service, directory, ['--local', '--user', user, '--domain', 'd1', '--role', role]);
    writeFileSync(party.publicKey, publicKey.export({ format: 'pem', type: 'spki' }));
    writeFileSync(party.privateKey, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
    return party;
  }

  get publicKey(): string {
    return join(this.directory, 'key.pub.pem');
  }

  private get privateKey(): string {
    return join(this.directory, 'key.pem');
  }

  /** The option that names the private key. */
  get key(): ['--key', string] {
    return ['--key', this.privateKey];
  }

  /** @throws Error with the exit code and what was printed, unless `cms` succeeds */
  async cms(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const { CMS_SERVER } = this.service.environment;
    if (this.server !== CMS_SERVER) {
      this.server = CMS_SERVER; // a service that restarts has another port
      await this.cms('login', ...this.login);
    }
    return await promisify(execFile)(process.execPath, [program, ...args], { env: this.environment, ...limits });
  }

  /** Starts a command that runs until it is stopped, such as `cms broker`. @returns what it has printed, and how to stop it */
  cmsUntilStopped(...args: string[]): { printed: () => string; stop: () => void } {
    let printed = '';
    const child = execFile(process.execPath, [program, ...args], { env: this.environment });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
    return { printed: () => printed, stop: () => void child.kill('SIGINT') };
  }

  /**
   * The same in a terminal. Says what it printed there, progress included, and how much memory `cms` took at most.
   * @param onText with all that it has printed so far
   */
  async cmsInTerminal(args: string[], onText: (printed: string) => void = () => undefined) {
    const file = join(this.directory, 'memory');
    const says = `process.on('exit', () => fs.writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS)))`;
    const measured = `--import=data:text/javascript,${encodeURIComponent(`import fs from 'node:fs'; ${says}`)}`;
    const words = [process.execPath, measured, program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const child = execFile('script', ['-qfec', words, '/dev/null'], { env: { ...this.environment, TERM: 'xterm' }, ...limits });
    let printed = '';
    child.stdout?.on('data', (chunk) => onText((printed += String(chunk))));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('close', resolve);
      child.once('error', reject);
    });
    return { code, printed, memoryInMiB: Math.round(Number(readFileSync(file, 'utf8')) / 1024) };
  }

  private get environment(): NodeJS.ProcessEnv {
    const { CMS_SERVER } = this.service.environment;
    return { ...process.env, CMS_SERVER, XDG_CONFIG_HOME: join(this.directory, 'config') };
  }
}

function generate(kind: KeyKind): KeyPairKeyObjectResult {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 3072 });
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return generateKeyPairSync('ed25519');
}
