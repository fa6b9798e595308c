import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import { log } from '../../shared/logger.ts';
import type { GatewayParts } from '../gateway-parts.ts';

/** Looks for pending commands twice a second, for all CVMs at once. */
export function pollPendingCommands(
  { service, timings }: GatewayParts,
  onPending: (commands: PendingCommand[]) => void,
): { stop: () => Promise<void> } {
  let stopped = false;
  let wakeUp = () => {};
  const watch = async () => {
    let hasFailed = false;
    while (!stopped) {
      const startedAt = performance.now();
      try {
        onPending(await service.pendingCommands());
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log('WARN', 'The commands of CVMs cannot be read now.', {}, error);
        hasFailed = true;
      }
      await new Promise<void>((resolve) => {
        const interval = hasFailed ? 2 * timings.commands : timings.commands;
        const timer = setTimeout(resolve, Math.max(interval - (performance.now() - startedAt), 0));
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const watching = watch();
  return {
    stop: async () => {
      stopped = true;
      wakeUp();
      await watching;
    },
  };
}
