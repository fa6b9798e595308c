import { resolve } from 'node:path';
import * as v from 'valibot';
import { parseOrigins } from './http-api/http-messages.ts';
import {
  gatewayPortFromEnvironment,
  isMain,
  parseOptions,
  portFromEnvironment,
  runCommand,
  typed,
  UsageError,
} from '../shared/command-line/arguments.ts';
import { buildConsole, type ConsoleBuild, type ConsoleFiles } from './pages/console-build.ts';
import { type Witness, witnessSchema } from '../shared/history/index.ts';
import { serviceVersion } from '../shared/runtime/service-version.ts';
import { parseSmtp } from './mail/smtp-mailer.ts';
import { isFree } from './machine/listen.ts';
import { requestLine } from './http-api/http-api.ts';
import { startStack } from './stack.ts';

/** The text that `npm start -- --help` prints. */
export const usage = `Usage: ${typed('start', '[--data DIR] [--no-simulator] [--test-evidence] [--no-console] [--smtp URL] [--cors-origin ORIGIN]... [--witness URL,VKEY]...')}

Runs the whole service on this machine. Set PORT to choose its port (default 3000), and GATEWAY_PORT to choose the port for the
agents of real CVMs (default 7001, or a free one). Set GATEWAY_HOST to 0.0.0.0 if CVMs are on other machines.

  --data DIR            keep the state in DIR (default: in memory, lost at exit)
  --no-simulator        do not simulate CVMs, so that your own need not be registered
  --test-evidence       simulate CVMs called sim-attested-..., too, when you register them without a certificate. They attest
                        with public test keys, which the service trusts in place of the roots of AMD and Intel
  --no-console          do not build and serve the web console
  --smtp URL            send users mail about their tasks through this server, such as
                        smtp://user:password@mail.example.com:587?from=computations@example.com
  --cors-origin ORIGIN  let web pages of this origin call the API, such as
                        https://app.example.com (pages of this machine always can)
  --witness URL,VKEY    have a witness of the log (C2SP tlog-witness) cosign its checkpoints. Each waits up to 5 seconds for it
  --help                print this help`;

/** The port of the gateway that agents of CVMs call without any configuration. */
const usualGatewayPort = 7001;

/**
 * Runs `npm start`: starts the service on this machine, and ends it on a signal. @throws UsageError for a mistake in the
 * arguments
 */
export async function startCommand(args: string[]): Promise<void> {
  const options = parseOptions(args, {
    data: { type: 'string' },
    'no-simulator': { type: 'boolean', default: false },
    'test-evidence': { type: 'boolean', default: false },
    'no-console': { type: 'boolean', default: false },
    smtp: { type: 'string' },
    'cors-origin': { type: 'string', multiple: true, default: [] },
    witness: { type: 'string', multiple: true, default: [] },
  });
  const port = portFromEnvironment();
  const cvmGateway = await gatewayFromEnvironment();
  const dataDirectory = options.data === undefined ? undefined : resolve(options.data);
  const simulator = !options['no-simulator'];
  const testEvidence = options['test-evidence'];
  if (testEvidence && !(simulator && ['127.0.0.1', 'localhost', '::1'].includes(cvmGateway.host))) {
    throw new UsageError('--test-evidence is for simulated CVMs: leave --no-simulator and GATEWAY_HOST out.');
  }
  const smtp = options.smtp === undefined ? undefined : parseSmtp(options.smtp);
  const corsOrigins = parseOrigins(options['cors-origin']);
  const witnesses = options.witness.map(parseWitness);
  const stops: (() => Promise<void>)[] = [];
  endOnSignal(async () => {
    for (const stop of stops) await stop();
  });
  const onLost = (error: Error) => {
    process.stderr.write(`${error.message}\nStopping the service.\n`);
    const exit = () => process.exit(1);
    setTimeout(exit, 5_000);
    void Promise.all(stops.map((stop) => stop())).then(exit, exit);
  };
  let build: ConsoleBuild | undefined;
  const withConsole = !options['no-console'];
  const stack = await startStack({
    port,
    logLevel: process.env['LOG_LEVEL'] ?? 'ERROR',
    onResponse: (done) => process.stdout.write(requestLine(done)),
    simulator,
    testEvidence,
    ...(withConsole ? { consoleFiles: () => build?.files() ?? { state: 'building' as const } } : {}),
    corsOrigins,
    witnesses,
    ...(smtp ? { smtp } : {}),
    cvmGateway,
    onLost,
    dataDirectory,
  }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is taken. Choose another one: PORT=${port + 1} ${typed('start')}`);
  });
  stops.push(stack.stop);
  const token = await stack.token('alice', ['d1:administrator']);
  if (withConsole) {
    build = buildConsole();
    stops.unshift(build.stop);
    void build.done.then(() => reportFailure(build?.files()));
  }
  process.stdout.write(
    welcome({
      baseUrl: stack.baseUrl,
      version: serviceVersion(),
      token,
      simulator,
      testEvidence,
      withConsole,
      dataDirectory,
      gateway: stack.cvmGateway?.address,
      isGatewayMoved: cvmGateway.orAnyPort && stack.cvmGateway?.gateway.port !== usualGatewayPort,
    }),
  );
}

/** The facts that `npm start` prints when the service is ready. */
export interface Welcome {
  baseUrl: string;
  version: string;
  /** A token for the user alice, an administrator of the domain d1. */
  token: string;
  simulator: boolean;
  testEvidence: boolean;
  /** True if the service serves the web console. */
  withConsole: boolean;
  dataDirectory: string | undefined;
  /** The address of the gateway for the agents of real CVMs. */
  gateway: string | undefined;
  /** True if the gateway listens on another port than usual, because the usual port is taken. */
  isGatewayMoved: boolean;
}

const missed = `
                    Its usual port is taken. CVMs that were enrolled with another address do not find it: free that port
                    and start again, or enrol them again. GATEWAY_PORT chooses a port that stays.`;

/** Formats the text that `npm start` prints when the service is ready. */
export function welcome(facts: Welcome): string {
  const { baseUrl, version, token, simulator, testEvidence, withConsole, dataDirectory, gateway, isGatewayMoved } = facts;
  const state = dataDirectory === undefined ? 'in memory, lost at exit (use --data DIR to keep it)' : `in ${dataDirectory}`;
  const cvms = simulator ? 'simulated: any CVM that a run names answers, unless it is registered' : 'not simulated';
  const isMissed = isGatewayMoved && dataDirectory !== undefined; // else no CVM is enrolled yet
  const { port } = new URL(baseUrl);
  const withPort = port === '3000' ? '' : `PORT=${port} `;
  return `
  Computation Management Service ${version} on this machine

    Base URL        ${baseUrl}
    Documentation   ${baseUrl}/docs${withConsole ? `\n    Console         ${baseUrl}/console/` : ''}
    State           ${state}
    CVMs            ${cvms}${testEvidence ? '\n    Attestation     PROVES NOTHING: public test keys are trusted, not AMD and Intel' : ''}
    Agents          ${gateway ?? 'not served'} (enrol a real CVM: ${withPort}${typed('cvm', 'enrol --domain d1 --cvm my-cvm')})${isMissed ? missed : ''}

  A token for alice, administrator of the domain d1, valid for 12 hours:

export TOKEN=${token}

  Create a computation:

curl -s -X POST ${baseUrl}/d1/computations -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"name": "My first computation"}'

  Get another token: ${withPort}${typed('token', '--sub bob --groups d1:viewer,d2:creator')}
  Press Ctrl-C to stop the service.

`;
}

function reportFailure(files: ConsoleFiles | undefined): void {
  if (files?.state === 'failed') process.stderr.write(`The web console could not be built. ${files.message}\n`);
}

/** Returns the witness that the option --witness names. @throws UsageError for a text that is not the address and key of one */
function parseWitness(text: string): Witness {
  const comma = text.lastIndexOf(',');
  const witness = { url: text.slice(0, comma), vkey: text.slice(comma + 1) };
  if (v.is(witnessSchema, witness)) return witness;
  throw new UsageError(`--witness is ${JSON.stringify(text)}; expected the address and the vkey of a witness, as in URL,VKEY.`);
}

async function gatewayFromEnvironment() {
  const host = process.env['GATEWAY_HOST'] || '127.0.0.1';
  const given = gatewayPortFromEnvironment();
  const port = given ?? ((await isFree(usualGatewayPort, host)) ? usualGatewayPort : 0);
  return { host, port, orAnyPort: given === undefined }; // another service may take the usual port in this moment
}

/**
 * Stops the service in order on the first signal, and at once on a later one. Signals within 0.5 s of the first count as the
 * first one, because npm forwards signals that the terminal has already sent.
 */
function endOnSignal(end: () => Promise<void>): void {
  let endingSince: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (endingSince !== undefined) {
        if (performance.now() - endingSince > 500) process.exit(1);
        return;
      }
      endingSince = performance.now();
      void end().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${String(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
}

if (isMain(import.meta)) await runCommand(usage, startCommand);
