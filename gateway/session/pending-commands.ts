import { setTimeout as delay } from 'node:timers/promises';
import { log } from '../../shared/runtime/log.ts';
import type { PendingCommand } from '../../shared/rows/command.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** Reads the commands that wait for CVMs, again and again, until the returned function `stop` is called. */
export function pollPendingCommands(
  { service, timings }: GatewayParts,
  onPending: (commands: PendingCommand[]) => void,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const watch = async () => {
    let hasFailed = false;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      try {
        onPending(await service.pendingCommands());
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log('WARN', 'The commands of CVMs cannot be read now.', {}, error);
        hasFailed = true;
      }
      const interval = hasFailed ? 2 * timings.commands : timings.commands;
      const rest = Math.max(interval - (performance.now() - startedAt), 0);
      await delay(rest, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const watching = watch();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/** Keeps the commands that wait for a CVM, and when to try each of them again. */
export class OpenCommands {
  private commands: PendingCommand[] = [];
  /** The times at which to try a command for the CVM again, by its identifier. Infinity if the command is answered. */
  private readonly retryAt = new Map<string, number>();

  set(commands: PendingCommand[]): boolean {
    if (commands.length === 0 && this.commands.length === 0) return false;
    this.commands = commands;
    const ids = new Set(commands.map(({ id }) => id));
    for (const id of this.retryAt.keys()) if (!ids.has(id)) this.retryAt.delete(id);
    return true;
  }

  due(now: number): PendingCommand[] {
    return this.commands.filter(({ id }) => (this.retryAt.get(id) ?? 0) <= now);
  }

  answered({ id }: PendingCommand): void {
    this.retryAt.set(id, Infinity);
  }

  retry({ id }: PendingCommand, at: number): void {
    this.retryAt.set(id, at);
  }
}
