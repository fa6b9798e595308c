import { isMain, parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { gatherCast, readInputFile, openService, type Service } from './cast.ts';
import { checkManifest, review } from './check.ts';
import { prepare } from './prepare.ts';
import { runAndStop, runToEnd } from './runs.ts';
import { printTimeline } from './timeline.ts';

const usage = `Usage: npm run demo [-- --url URL [--token TOKEN] [--domain DOMAIN]]

Takes a computation on public data from its creation to its results, on a new service. Then stops a second run.
The exit code is 0 only if every step succeeded.

  --url URL        use a running service with simulated CVMs instead of starting one
  --token TOKEN    use this administrator's token for all users
  --domain DOMAIN  the domain to use. Default: demo
  --help           print this`;

export async function demoCommand(args: string[]): Promise<void> {
  const options = parseOptions(args, {
    url: { type: 'string' },
    token: { type: 'string' },
    domain: { type: 'string', default: 'demo' },
  });
  if (options.token !== undefined && options.url === undefined) throw new UsageError('--token goes with --url.');
  const interrupted = interruption();
  const service = await openService({ url: options.url, token: options.token });
  try {
    await Promise.race([play(service, options.domain), interrupted]);
  } finally {
    await service.stop();
  }
  process.exit(0);
}

if (isMain(import.meta)) await runCommand(usage, demoCommand);

async function play(service: Service, domain: string): Promise<void> {
  const startedAt = performance.now();
  const timeline = printTimeline();
  timeline.chapter(`A computation from its creation to its results, on ${service.baseUrl}, domain ${domain}`);
  const [algorithm, dataset] = await Promise.all([readInputFile('penguin-sizes.py'), readInputFile('penguins.csv')]);
  const cast = await gatherCast(service, domain);

  timeline.chapter('Prepare');
  const computationId = await prepare(timeline, cast, { algorithm, dataset });
  timeline.chapter('Run, on a simulated CVM: it reports as an agent does, but runs nothing');
  const runId = await runToEnd(timeline, cast, computationId, 'sim-1');
  timeline.chapter('Check');
  await checkManifest(timeline, cast, { computationId, runId }, { algorithm, dataset });
  timeline.chapter('Stop another run');
  await runAndStop(timeline, cast, computationId, 'sim-slow-1');
  timeline.chapter('Look back');
  await review(timeline, cast, computationId);
  timeline.chapter(`Everything happened, in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.\n`);
}

/**
 * Returns a promise that the first SIGINT, SIGTERM or SIGHUP rejects. A second signal of the same kind ends the process at once.
 */
function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new Error('Interrupted.')));
    }
  });
  interrupted.catch(() => undefined); // the signal may come before the promise is awaited
  return interrupted;
}
