import type { Command } from 'commander';
import { page } from 'computation-management-client';
import { plainName } from 'computation-management-formats/quoted-name';
import { learnOf, type WrapAction } from '../context/context.ts';
import { relativeTime } from '../terminal/text.ts';

const mostComputations = 20;

export function addStatusCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('status')
    .description('show what waits for you, the active runs, and which of your approvals expire')
    .action(
      wrapAction(async (context) => {
        const { client, user } = await context.connect();
        const { command, terminal } = context;
        const now = terminal.now();
        const [{ totals }, running, stopping, { items: computations }] = await Promise.all([
          client.getTodo(),
          page(client, 'listRuns', { status: 'running', limit: 20 }),
          page(client, 'listRuns', { status: 'stopping', limit: 20 }),
          page(client, 'listComputations', { limit: mostComputations }),
        ]);
        const names = new Map(computations.map(({ id, name }) => [id, name]));
        const answers = await learnOf([...names.keys()], terminal.signal, (id, signal) => client.listApprovals({ id, signal }));
        terminal.signal.throwIfAborted();
        const expiring = [...answers]
          .flatMap(([computation_id, { approvals }]) =>
            approvals.map(({ user, stale, expires_at }) => ({ computation_id, user, stale, expires_at: expires_at ?? '' })),
          )
          .filter((approval) => approval.user === user && !approval.stale && approval.expires_at !== '')
          .sort((one, other) => (one.expires_at < other.expires_at ? -1 : 1));
        const runs = [...running.items, ...stopping.items];
        const nameOf = (id: string) => plainName(names.get(id) ?? id);
        context.print({ to_do: totals, active_runs: { items: runs, total: running.total + stopping.total }, expiring }, () => {
          const waits = Object.entries(totals).map(
            ([what, count]) => `${count ?? 'more than can be examined'} ${count === 1 ? what.replace(/s$/, '') : what}`,
          );
          return [
            `To do: ${waits.join(', ')}`,
            `Active runs: ${running.total + stopping.total}`,
            ...runs.map(
              (run) =>
                `  ${nameOf(run.computation_id)} on ${run.cvm_id}, ${run.status} since ${relativeTime(run.started_at, now)}`,
            ),
            `Your approvals that expire, on the ${mostComputations} newest computations: ${expiring.length}`,
            ...expiring.map((each) => `  ${nameOf(each.computation_id)} expires ${relativeTime(each.expires_at, now)}`),
            '',
          ].join('\n');
        });
        if (Object.values(totals).some((count) => count !== 0)) context.note(`Next: ${command('todo')}\n`);
      }),
    );
}
