import { findRows, page } from 'computation-management-client';
import { plainName } from 'computation-management-formats/quoted-name';
import { agoText } from 'computation-management-words';
import { learnOf } from '../context/context.ts';
import { hanging } from '../terminal/text.ts';
import type { CmsCommand } from './options.ts';

const mostListed = 20;

export function addStatusCommand(program: CmsCommand): void {
  program
    .subcommand('status', 'show what waits for you, the active runs, and which of your approvals expire')
    .does(async (context) => {
      const { client, user, profile } = await context.connect();
      const { command, terminal } = context;
      const now = terminal.now();
      const [{ totals }, running, stopping, newest] = await Promise.all([
        client.getTodo(),
        page(client, 'listRuns', { status: 'running', limit: mostListed }),
        page(client, 'listRuns', { status: 'stopping', limit: mostListed }),
        page(client, 'listComputations', { limit: mostListed }),
      ]);
      const approvedHere = Object.entries(profile?.approved ?? {}).flatMap(([id, { expires_at }]) => (expires_at ? [id] : []));
      const ids = [...new Set([...newest.items.map(({ id }) => id), ...approvedHere])];
      const learned = await learnOf(ids, terminal.signal, (id, signal) => client.listApprovals({ id, signal }));
      terminal.signal.throwIfAborted();
      const expiring = [...learned]
        .flatMap(([computation_id, { approvals }]) =>
          approvals.map(({ user, stale, expires_at }) => ({ computation_id, user, stale, expires_at: expires_at ?? '' })),
        )
        .filter((approval) => approval.user === user && !approval.stale && approval.expires_at !== '')
        .sort((one, other) => (one.expires_at < other.expires_at ? -1 : 1));
      const runs = [...running.items, ...stopping.items];
      const active = running.total + stopping.total;
      const shown = [...new Set([...runs, ...expiring].map(({ computation_id }) => computation_id))];
      const rows = await findRows(shown, (range) => page(client, 'listComputations', range));
      const nameOf = (id: string) => plainName(rows.get(id)?.name ?? id);
      const row = (text: string) => hanging(`  ${text}`, terminal.columns);
      const examined = { computations: learned.size, total: newest.total };
      context.print({ to_do: totals, active_runs: { items: runs, total: active }, expiring, examined }, () => {
        const always = ['approvals', 'keys', 'content'];
        const told = Object.entries(totals).filter(([what, count]) => count !== 0 || always.includes(what));
        const waits = told.map(
          ([what, count]) => `${count ?? 'more than can be examined'} ${count === 1 ? what.replace(/s$/, '') : what}`,
        );
        const part =
          examined.computations >= examined.total
            ? ''
            : `, on ${examined.computations} of ${examined.total} computations: the newest, and those that you approved on this machine`;
        return [
          `To do: ${waits.join(', ')}`,
          `Active runs: ${active}`,
          ...runs.map((run) =>
            row(`${nameOf(run.computation_id)} on ${run.cvm_id}, ${run.status} since ${agoText(run.started_at, now)}`),
          ),
          ...(active > runs.length ? [`  ${active - runs.length} more: ${command('runs --status running --all')}`] : []),
          `Your approvals that expire: ${expiring.length}${part}`,
          ...expiring.map((each) => row(`${nameOf(each.computation_id)} expires ${agoText(each.expires_at, now)}`)),
          '',
        ].join('\n');
      });
      if (Object.values(totals).some((count) => count !== 0)) context.note(`Next: ${command('todo')}\n`);
    });
}
