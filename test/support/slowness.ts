import { availableParallelism, loadavg } from 'node:os';

/** How many times longer the machine takes now than with a free core for everybody, from its load of the last minute. At least 1. */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}
