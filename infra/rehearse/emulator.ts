import { execFileSync, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../local/free-port.ts';
import { askEmulator, type EmulatorAddress } from './emulator-client.ts';
import { startKeyRelay } from './key-relay.ts';
import { tailOf } from './run-command.ts';

/** The version that docs/rehearsal.md speaks of. */
const knownVersion = '1.5.33';

export interface Emulator {
  address: EmulatorAddress;
  /** For commands that are to take the emulator for AWS, as the root of its account. */
  awsEnvironment: NodeJS.ProcessEnv;
  /** For programs that are to find the bucket's address there; the functions have it too. */
  contentEnvironment: NodeJS.ProcessEnv;
  stop: () => Promise<void>;
}

export interface EmulatorOptions {
  /** A Python with the packages ministack and cryptography. */
  python: string;
  region: string;
  /** Takes its certificate, its log and the unpacked functions. */
  folder: string;
}

/** The emulator's version. @throws Error saying how to get it, where it is missing */
export function versionOfEmulator(python: string): string {
  const program = 'import importlib.metadata as m; import cryptography; print(m.version("ministack"))';
  try {
    return execFileSync(python, ['-c', program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    throw new Error(`${python} is not there, or lacks the packages ministack and cryptography. With Python 3.10 or newer:

  python3 -m venv ~/.cache/ministack
  ~/.cache/ministack/bin/pip install ministack==${knownVersion} cryptography
  npm run rehearse -- --python ~/.cache/ministack/bin/python`);
  }
}

/**
 * Starts MiniStack on the loopback interface, over TLS and with IAM enforced: a function has the rights of its role and no
 * other, and the bucket refuses what does not come over TLS.
 */
export async function startEmulator({ python, region, folder }: EmulatorOptions): Promise<Emulator> {
  const port = await freePort();
  const address = { endpoint: `https://localhost:${port}`, certificate: join(folder, 'ministack-tls', 'server.crt'), region };
  const relay = await startKeyRelay(address);
  const contentEnvironment = {
    ...withoutAws(process.env),
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('storage-redirect.ts', import.meta.url))}`,
    NODE_EXTRA_CA_CERTS: address.certificate,
    REHEARSAL_ENDPOINT: address.endpoint,
  };
  const logFile = join(folder, 'emulator.log');
  const log = openSync(logFile, 'w');
  const child = spawn(python, ['-m', 'ministack'], {
    env: {
      ...{ ...contentEnvironment, TMPDIR: folder, GATEWAY_PORT: String(port), BIND_HOST: '127.0.0.1' },
      ...{ MINISTACK_REGION: region, USE_SSL: '1', AUTH: 'true', IOT_MTLS_ENABLED: '0', http_proxy: relay.endpoint },
    },
    stdio: ['ignore', log, log],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = () => child.kill();
  process.once('exit', kill);

  await untilItAnswers(address, () => child.exitCode !== null, logFile);
  return {
    address,
    contentEnvironment,
    awsEnvironment: {
      ...{ ...withoutAws(process.env), NODE_EXTRA_CA_CERTS: address.certificate, AWS_CA_BUNDLE: address.certificate },
      ...{ AWS_ENDPOINT_URL: address.endpoint, AWS_REGION: region, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
    },
    stop: async () => {
      process.off('exit', kill);
      child.kill();
      await ended;
      await relay.stop();
    },
  };
}

/** Keeps an account of the caller's own out of the rehearsal. */
function withoutAws(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AWS_')));
}

async function untilItAnswers(address: EmulatorAddress, hasEnded: () => boolean, logFile: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (hasEnded()) throw new Error(`The emulator ended at its start:\n\n${tailOf(logFile)}`);
    const answers = await askEmulator(address, { path: '/_ministack/health' }).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await delay(100);
  }
  throw new Error(`The emulator does not answer at ${address.endpoint}:\n\n${tailOf(logFile)}`);
}
