import { isFree } from '../../infra/local/free-port.ts';

const portsOfWorker = 500;
let taken = 0;

/**
 * Finds a free TCP port for a program that binds it seconds later. No other worker of the tests gets it, and no engine: those take
 * ports from 15,000 on.
 */
export async function ownPort(): Promise<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % 10;
  for (;;) {
    const port = 10_000 + portsOfWorker * worker + (taken++ % portsOfWorker);
    if (await isFree(port, '127.0.0.1')) return port;
  }
}
