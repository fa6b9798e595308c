import { isFree } from '../../local/machine/listen.ts';

const workers = 49;
const portsOfWorker = 100;
/** Above 10,080, which `fetch` refuses to call. */
const lowest = 10_100;
let taken = process.pid % portsOfWorker;

/**
 * Finds a free TCP port for a program that binds it seconds later. No other worker of these tests asks for it, and no engine: those
 * take ports from 15,000 on.
 * @throws Error if no port is free
 */
export async function ownPort(): Promise<number> {
  const first = lowest + portsOfWorker * (Number(process.env['VITEST_POOL_ID'] ?? 0) % workers);
  for (let attempt = 0; attempt < portsOfWorker; attempt++) {
    const port = first + (taken++ % portsOfWorker);
    if (await isFree(port, '127.0.0.1')) return port;
  }
  throw new Error(`No TCP port of 127.0.0.1 from ${first} to ${first + portsOfWorker - 1} is free.`);
}
