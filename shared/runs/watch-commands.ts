import { timestampOf } from '../clock.ts';
import type { Kms } from '../kms.ts';
import type { Table } from '../table/table.ts';
import { isOver, waitFor } from '../waits/wait-for.ts';
import type { Wait } from '../waits/wait.ts';
import type { Command } from './command.ts';
import { glanceAtCvm, listCommands, openWork, type Work } from './list-commands.ts';

/**
 * Reads what a CVM has to do, and waits until there is a command. While it waits, it looks once a second at one item.
 * @param now of the request: RFC 3339, UTC, milliseconds
 */
export async function watchCommands(
  table: Table,
  kms: Kms,
  { domain, cvmId, now }: { domain: string; cvmId: string; now: string },
  wait: Wait,
): Promise<Work<Command>> {
  const read = async (at: string) => await openWork(kms, await listCommands(table, domain, cvmId, at));
  const work = await read(now);
  if (work.commands.length > 0 || isOver(wait)) return work;
  const seen = await waitFor(
    table,
    wait,
    () => glanceAtCvm(table, domain, cvmId),
    ({ hasCommand }) => hasCommand,
  );
  const isIdle = work.run === null && !seen.isHeld;
  return isIdle ? work : await read(timestampOf(wait.clock));
}
