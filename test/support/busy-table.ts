import { Deadline } from '../../shared/runtime/deadline.ts';
import { untilTestEnds } from './patience.ts';
import { startProxiedTable } from './proxied-table.ts';

/** Starts a table whose first answer to a batch leaves all keys unprocessed, as a busy partition does. Logs calls and pauses. */
export async function startBusyTable(command: 'BatchGet' | 'BatchWrite') {
  const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
  const { table } = proxied;
  const log: string[] = [];
  class LoggedDeadline extends Deadline {
    override pause(): Promise<void> {
      log.push('pause');
      return Promise.resolve();
    }
  }
  table.document.middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        if (!String(commandName).startsWith(command)) return await next(sent);
        log.push('send');
        if (log.length > 1) return await next(sent);
        const { RequestItems } = sent.input as { RequestItems: Record<string, unknown> };
        const left = { UnprocessedKeys: RequestItems, UnprocessedItems: RequestItems };
        return { output: { ...left, $metadata: {} }, response: {} };
      },
    { step: 'initialize' },
  );
  return { table: { ...table, deadline: () => new LoggedDeadline(untilTestEnds.timeout) }, log, stop: proxied.stop };
}
