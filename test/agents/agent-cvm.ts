import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ok as ensure } from 'node:assert';
import { exitCodeOf, tailOf } from '../rehearse/emulator.ts';
import { relay } from './relay.ts';
import type { evidences } from './stand-in-attestation.ts';

/** The programs of a CVM. */
const programs = ['agent', 'computation-runner', 'log-forwarder', 'attestation-service'] as const;
export type Program = (typeof programs)[number];

export interface Build {
  /** The checkout of github.com/ultravioletrs/cocos. It is not changed. */
  source: string;
  /** The directory for the programs and the log of the build. */
  directory: string;
  /** Modules that the module proxy does not have, each as `module=directory`. */
  replacements: string[];
}

/**
 * Builds the programs, unmodified. Go skips what it has built before.
 * @throws Error with the end of Go's output
 */
export async function buildAgent({ source, directory, replacements }: Build): Promise<(program: Program) => string> {
  if (!existsSync(join(source, 'cmd/computation-runner'))) {
    throw new Error(`${source} is no checkout of github.com/ultravioletrs/cocos of version 0.10.2 or newer.`);
  }
  mkdirSync(directory, { recursive: true });
  const modFile = join(directory, 'go.mod');
  for (const name of ['go.mod', 'go.sum']) copyFileSync(join(source, name), join(directory, name));
  for (const replacement of replacements) await go(['mod', 'edit', `-replace=${replacement}`, modFile], { source, directory });
  const packages = programs.map((program) => `./cmd/${program}`);
  await go(['build', `-modfile=${modFile}`, '-buildvcs=false', '-o', `${directory}/`, ...packages], { source, directory });
  return (program) => join(directory, program);
}

async function go(args: string[], { source, directory }: Pick<Build, 'source' | 'directory'>): Promise<void> {
  const logFile = join(directory, 'build.log');
  const environment = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
  const code = await exitCodeOf({ words: ['go', '-C', source, ...args], environment, logFile });
  if (code !== 0) throw new Error(`\`go ${args.join(' ')}\` failed:\n\n${tailOf(logFile)}`);
}

/** The commit of the checkout, for the report. */
export async function commitOf(source: string): Promise<string> {
  const child = spawn('git', ['-C', source, 'rev-parse', '--short=8', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  return text.trim() || 'unknown';
}

export interface CvmOptions {
  /**
   * The directory of the CVM: sockets, working directory and logs. Its path is short, because that of a Unix socket has at most 107
   * characters.
   */
  directory: string;
  program: (name: Program) => string;
  /** The variables that enrolment printed for /etc/cocos/environment. */
  environment: Record<string, string>;
  /** The port of the gateway on this machine. */
  gatewayPort: number;
  /** Names the evidence, of `evidences`, that a stand-in for the attestation-service gives. Default: no stand-in. */
  evidence?: keyof typeof evidences | undefined;
  /** Other ports of this machine that the programs reach under their numbers. */
  alsoReaches?: number[] | undefined;
}

/** The ports that an agent uses by itself. */
const portOfUsers = 7002;

const holder = [
  'mount -t tmpfs tmpfs /run',
  'mount -t tmpfs tmpfs /var/lib',
  'mkdir -p /run/cocos /var/lib/cocos/agent',
  'ip link set lo up',
  'echo ready',
  'exec sleep infinity',
].join(' && ');

/**
 * The programs of a CVM in the order in which they start: each needs those before it. The path is the socket of a program that is
 * ready.
 */
const starts: [Program, string | undefined][] = [
  ['log-forwarder', '/run/cocos/log.sock'],
  ['computation-runner', '/run/cocos/runner.sock'],
  ['attestation-service', '/run/cocos/attestation.sock'],
  ['agent', undefined],
];

/**
 * A CVM without a TEE: the real programs in namespaces of their own, because their paths and ports are fixed. Without a TEE the
 * attestation-service signs a sample token.
 */
export class AgentCvm {
  private readonly options: CvmOptions;
  private readonly namespaces: ChildProcess;
  private readonly children = new Map<string, ChildProcess>();
  private readonly stops: (() => Promise<void>)[] = [];
  /** The address at which users reach the agent, such as `localhost:40123`. */
  address = '';
  /** Cuts the connections to the gateway. */
  cutGateway: () => void = () => undefined;
  /** Cuts the connections of users. */
  cutUsers: () => void = () => undefined;

  private constructor(options: CvmOptions) {
    this.options = options;
    this.namespaces = spawn('unshare', ['-Urmn', '--kill-child', 'sh', '-c', holder], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  static async start(options: CvmOptions): Promise<AgentCvm> {
    mkdirSync(join(options.directory, 'work'), { recursive: true });
    const cvm = new AgentCvm(options);
    try {
      await untilPrinted(cvm.namespaces, 'The namespaces of a CVM');
      await cvm.connectNetwork();
      await cvm.startPrograms();
    } catch (error) {
      await cvm.stop();
      throw error;
    }
    return cvm;
  }

  get environment(): Record<string, string> {
    return this.options.environment;
  }

  private async connectNetwork(): Promise<void> {
    const { directory, gatewayPort, alsoReaches = [] } = this.options;
    const toAgent = join(directory, 'agent.sock');
    const places = [toAgent, String(portOfUsers)];
    for (const port of [gatewayPort, ...alsoReaches]) {
      const out = join(directory, `${port}.sock`);
      const outward = await relay(out, port);
      this.stops.push(outward.stop);
      if (port === gatewayPort) this.cutGateway = outward.cut;
      places.push(String(port), out);
    }
    const inner = this.spawnInside(process.execPath, [join(import.meta.dirname, 'relay.ts'), ...places], 'pipe');
    await untilPrinted(inner, 'The relay of a CVM');
    this.children.set('relay', inner);
    const users = await relay(0, toAgent);
    this.stops.push(users.stop);
    this.cutUsers = users.cut;
    this.address = `localhost:${(users.server.address() as AddressInfo).port}`;
  }

  /** Starts all programs. Those that run must have been killed before. */
  async startPrograms(): Promise<void> {
    for (const [name, socket] of starts) await this.startProgram(name, socket);
  }

  /** Starts the agent alone, as systemd does after its end. */
  async startAgent(): Promise<void> {
    await this.startProgram('agent', undefined);
  }

  private async startProgram(name: Program, socket: string | undefined): Promise<void> {
    const path = socket && `/proc/${this.namespaces.pid}/root${socket}`;
    if (path) rmSync(path, { force: true }); // a program that was killed leaves it
    const log = openSync(join(this.options.directory, `${name}.log`), 'a');
    const { evidence, program } = this.options;
    const isStandIn = name === 'attestation-service' && evidence !== undefined;
    const standIn = [join(import.meta.dirname, 'stand-in-attestation.ts'), evidence ?? ''];
    const child = isStandIn ? this.spawnInside(process.execPath, standIn, log) : this.spawnInside(program(name), [], log);
    closeSync(log);
    this.children.set(name, child);
    for (let tries = 0; path && !existsSync(path); tries++) {
      ensure(child.exitCode === null && tries < 1_200, `${name} did not start: see ${this.options.directory}/${name}.log`);
      await delay(50);
    }
  }

  private spawnInside(program: string, args: string[], output: number | 'pipe'): ChildProcess {
    const { directory, environment } = this.options;
    const target = String(this.namespaces.pid);
    const enter = ['--preserve-credentials', '-U', '-m', '-n', '-t', target];
    const inDirectory = ['sh', '-c', 'cd "$0" && exec "$@"', join(directory, 'work')];
    return spawn('nsenter', [...enter, ...inDirectory, program, ...args], {
      env: { PATH: process.env['PATH'], HOME: '/tmp', ...environment },
      stdio: ['ignore', output, output === 'pipe' ? 'inherit' : output],
    });
  }

  /** Runs a command of the shell with the rights of root. @returns its exit code, and what it printed */
  async run(script: string): Promise<{ code: number; printed: string }> {
    const child = this.spawnInside('sh', ['-c', `exec 2>&1; ${script}`], 'pipe');
    let printed = '';
    child.stdout?.on('data', (chunk) => (printed += String(chunk)));
    const [code] = await once(child, 'close');
    return { code: Number(code), printed };
  }

  /** Sends a signal to a program. After SIGKILL, waits for its end. */
  async signal(name: Program, signal: NodeJS.Signals): Promise<void> {
    const child = this.children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGKILL') await ended;
  }

  /** Lets the network drop all packets of the programs without a word, or pass them again. */
  async network(state: 'down' | 'up'): Promise<void> {
    const [code] = await once(this.spawnInside('ip', ['link', 'set', 'lo', state], 'pipe'), 'exit');
    ensure(code === 0, `The network of a CVM did not go ${state}.`);
  }

  /** Lets the kernel find out after a minute, not after two hours, that a silent connection is gone. Counts for new connections. */
  async shortenKeepalive(): Promise<void> {
    const place = '/proc/sys/net/ipv4/tcp_keepalive';
    const script = `echo 15 > ${place}_time && echo 5 > ${place}_intvl`;
    const [code] = await once(this.spawnInside('sh', ['-c', script], 'pipe'), 'exit');
    ensure(code === 0, 'The keepalive of a CVM could not be set.');
  }

  /** Starts all programs anew, as a boot does. */
  async restart(): Promise<void> {
    for (const [name] of starts.toReversed()) await this.signal(name, 'SIGKILL');
    await this.startPrograms();
  }

  async stop(): Promise<void> {
    for (const child of this.children.values()) child.kill('SIGKILL');
    this.namespaces.kill('SIGKILL');
    for (const stop of this.stops.splice(0)) await stop();
  }
}

async function untilPrinted(child: ChildProcess, what: string): Promise<void> {
  let text = '';
  child.stdout?.on('data', (chunk) => (text += String(chunk)));
  for (let tries = 0; !text.includes('ready'); tries++) {
    ensure(child.exitCode === null && child.signalCode === null && tries < 400, `${what} did not start.`);
    await delay(25);
  }
}
