import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../local/machine/listen.ts';
import { askEmulator, type EmulatorAddress } from './emulator-client.ts';

export interface Command {
  words: readonly [string, ...string[]];
  environment: NodeJS.ProcessEnv;
  /** Receives everything that the command prints. */
  logFile: string;
}

/** Runs a command to its end. @throws Error with the end of its output if its exit code is not 0 */
export async function runCommand(command: Command): Promise<void> {
  const code = await exitCodeOf(command);
  if (code !== 0)
    throw new Error(
      `\`${command.words.join(' ')}\` ended with ${code === null ? 'a signal' : `exit code ${code}`}:\n\n${tailOf(command.logFile)}`,
    );
}

/** Runs a command to its end. Returns its exit code, or null if a signal ended it. */
export async function exitCodeOf({ words, environment, logFile }: Command): Promise<number | null> {
  const [program, ...args] = words;
  const log = openSync(logFile, 'w');
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { env: environment, stdio: ['ignore', log, log] });
      child.once('error', reject);
      child.once('exit', resolve);
    });
  } finally {
    closeSync(log);
  }
}

const linesOfTail = 30;

/** Returns the last lines that a command printed. */
export function tailOf(logFile: string): string {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-linesOfTail).join('\n');
}

/**
 * Even when MiniStack runs with TLS, its JWT authorizer requests the signing keys from its own Cognito over plain HTTP, and gets
 * none. This server is the HTTP proxy of MiniStack's process, and forwards that request over TLS.
 */
class KeyRelay {
  /** True while the issuer answers. Otherwise the relay answers 503. */
  isUp = true;
  readonly server: Server;

  constructor(emulator: EmulatorAddress) {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', emulator.endpoint);
      const answer = this.isUp ? askEmulator(emulator, { path: pathname }) : Promise.resolve({ status: 503, text: '' });
      answer.then(
        ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
        (error: unknown) => response.writeHead(502).end(String(error)),
      );
    });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

export interface Emulator {
  address: EmulatorAddress;
  /** The environment for commands that use the emulator as AWS, as root of its account. */
  awsEnvironment: NodeJS.ProcessEnv;
  /** The environment for programs that use the emulator's bucket. The functions have it, too. */
  contentEnvironment: NodeJS.ProcessEnv;
  /** The file that says which service refuses the requests of functions (aws-redirect.ts). */
  faults: string;
  issuer: KeyRelay;
  stop: () => Promise<void>;
}

export interface EmulatorOptions {
  /** The command of a Python that has what test/prerequisites.json asks for. */
  python: string;
  region: string;
  /** Receives the certificate, the log and the unpacked functions. */
  folder: string;
}

/**
 * Starts MiniStack on the loopback interface, over TLS and with IAM enforced: a function has only the permissions of its role,
 * and the bucket refuses requests without TLS.
 */
export async function startEmulator({ python, region, folder }: EmulatorOptions): Promise<Emulator> {
  const port = await freePort();
  const address = { endpoint: `https://localhost:${port}`, certificate: join(folder, 'ministack-tls', 'server.crt'), region };
  const issuer = new KeyRelay(address);
  await once(issuer.server.listen(0, '127.0.0.1'), 'listening');
  const faults = join(folder, 'faults.json');
  const contentEnvironment = {
    ...withoutAws(process.env),
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('aws-redirect.ts', import.meta.url))}`,
    NODE_EXTRA_CA_CERTS: address.certificate,
    REHEARSAL_ENDPOINT: address.endpoint,
    REHEARSAL_FAULTS: faults,
  };
  writeFileSync(faults, JSON.stringify({ service: '', port: 0 }));
  const logFile = join(folder, 'emulator.log');
  const log = openSync(logFile, 'w');
  const child = spawn(python, ['-m', 'ministack'], {
    env: {
      ...contentEnvironment,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_REGION: region,
      USE_SSL: '1',
      AUTH: 'true',
      IOT_MTLS_ENABLED: '0',
      http_proxy: issuer.endpoint,
    },
    stdio: ['ignore', log, log],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = () => child.kill();
  process.once('exit', kill);

  await untilItAnswers(address, () => child.exitCode !== null, logFile);
  return {
    address,
    faults,
    issuer,
    contentEnvironment,
    awsEnvironment: {
      ...withoutAws(process.env),
      NODE_EXTRA_CA_CERTS: address.certificate,
      AWS_CA_BUNDLE: address.certificate,
      AWS_ENDPOINT_URL: address.endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    stop: async () => {
      process.off('exit', kill);
      child.kill();
      await ended;
      issuer.server.close();
    },
  };
}

/** Removes the variables of the user's own AWS account. */
function withoutAws(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AWS_')));
}

async function untilItAnswers(address: EmulatorAddress, hasEnded: () => boolean, logFile: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (hasEnded()) throw new Error(`The emulator failed to start:\n\n${tailOf(logFile)}`);
    const answers = await askEmulator(address, { path: '/_ministack/health' }).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await delay(100);
  }
  throw new Error(`The emulator does not answer at ${address.endpoint}:\n\n${tailOf(logFile)}`);
}
