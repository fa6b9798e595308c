import { timestampOf } from '../clock.ts';
import type { Kms } from '../kms.ts';
import type { Table } from '../table/table.ts';
import { isOver, waitFor } from '../waits/wait-for.ts';
import type { Wait } from '../waits/wait.ts';
import type { Command } from './command.ts';
import { openWork, readClaimEventually, readCommands, type Work } from './list-commands.ts';

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
  const read = async (at: string) => {
    const { work, issued } = await readCommands(table, domain, cvmId, at);
    return { work: await openWork(kms, work), issued };
  };
  const { work, issued } = await read(now);
  if (work.commands.length > 0 || isOver(wait)) return work;
  const seen = await waitFor(
    table,
    wait,
    () => readClaimEventually(table, domain, cvmId),
    // Commands that were issued before, and are not in the work, were answered or have expired.
    (claim) => claim.issued.some((command) => !issued.includes(command)),
  );
  const isIdle = work.run === null && !seen.isHeld;
  if (isIdle) return work;
  const later = await read(timestampOf(wait.clock));
  return later.work;
}
