import { printable } from 'computation-management-formats/printable';
import { plainName, quotedText } from 'computation-management-formats/quoted-name';
import { agoText, oldText, owedSince, userText } from 'computation-management-words';
import { findRows, page } from 'computation-management-client';
import { learnOf } from '../context/context.ts';
import { coverageOf, formatCoverage, staleApprovals, staleText } from '../context/coverage.ts';
import { approvalOf, keyFile, uploadOf } from '../context/missing-items.ts';
import { unlessUnknown } from '../context/find-by-name.ts';
import { hanging } from '../terminal/text.ts';
import { plainReason } from './approvals.ts';
import type { CmsCommand } from './options.ts';

const kinds = ['approvals', 'keys', 'content', 'reviews', 'refusals', 'invitations'] as const;

/** The number of approvals for which `cms todo` shows what they cover. For further approvals it names the command that shows it. */
const mostShown = 3;

export function addTodoCommand(program: CmsCommand): void {
  program
    .subcommand('todo', 'list what waits for you: approvals, keys, content, results, refusals and invitations')
    .connected(async (context) => {
      const { client, command, terminal } = context;
      const { signal } = terminal;
      const todo = await client.getTodo();
      const idsOf = (tasks: { computation_id: string }[]) => (context.isJson ? [] : tasks.map((task) => task.computation_id));
      const ids = idsOf(todo.approvals);
      const others = idsOf([...todo.keys, ...todo.reviews, ...todo.invitations]).slice(0, mostListed);
      const all = [...new Set([...ids, ...others])];
      const files = context.isJson ? [] : todo.content.slice(0, mostListed).map(({ asset_id }) => asset_id);
      const isOwn = ({ user }: { user: string }) => user === context.user;
      const [computations, events, stale, assets] = await Promise.all([
        learnOf(all, signal, (id, signal) => client.getComputation({ id, signal })),
        learnOf(
          all.slice(0, mostListed),
          signal,
          async (id, signal) => (await client.listEvents({ id, limit: 100, signal })).events,
        ),
        learnOf(ids, signal, (id, signal) => staleApprovals({ ...context, terminal: { ...terminal, signal } }, id, isOwn)),
        learnOf(files, signal, (id, signal) => client.getAsset({ id, signal })),
      ]);
      const covered = await learnOf(ids.slice(0, mostShown), signal, async (id, signal) => {
        const computation = computations.get(id);
        if (!computation) throw new TypeError('It was not read.');
        const covered = await coverageOf(context, { id, computation, signal });
        return formatCoverage(covered, terminal, { computation, you: context.user, stale: stale.get(id) });
      });
      signal.throwIfAborted();
      const items = kinds.flatMap((waits_for) => todo[waits_for].map((each) => ({ waits_for, ...each })));
      const entry = (sentence: string, commands: string[], more: string) =>
        `${hanging(printable(sentence), terminal.columns)}\n${more.replaceAll(/^(?=.)/gm, '  ')}${commands.map((each) => `    ${printable(each)}\n`).join('')}`;
      const ago = (at: string | undefined) => (at === undefined ? [] : [agoText(at, terminal.now())]);
      const line = (parts: string[]) =>
        parts.length === 0 ? '' : `${hanging(parts.join(', '), (terminal.columns ?? 110) - 2)}\n`;
      const since = (kind: 'approval' | 'key' | 'review', id: string) =>
        ago(owedSince({ kind }, context.user, events.get(id) ?? []));
      const from = (id: string) => [computations.get(id)?.owner].flatMap((owner) => (owner ? [`From ${userText(owner)}`] : []));
      const told = (kind: 'key' | 'review', id: string) => line([...from(id), ...since(kind, id)]);
      const created = (id: string) => line(ago(assets.get(id)?.created_at).map((time) => `Created ${time}`));
      const uploadKey = (id: string) => command(`key upload ${keyFile}.pub ${id}`);
      context.print({ items, totals: todo.totals, as_of: todo.as_of }, () => {
        const lines = [
          ...todo.approvals.map(({ computation_id: id, name, because }) =>
            entry(
              `Approve ${plainName(name)}, because of ${because.map(plainReason).join(', ')}`,
              [
                ...(covered.has(id) ? [] : [command(`check ${id}`)]),
                command(approvalOf(id, computations.get(id)?.approval === 'all_signed')),
              ],
              // What changed since an approval has its own time.
              line([...from(id), ...(stale.get(id)?.length ? [] : since('approval', id))]) +
                (covered.get(id) ?? staleText(stale.get(id) ?? [])),
            ),
          ),
          ...todo.keys.map(({ computation_id: id, name }) =>
            entry(`Upload your key to ${plainName(name)}`, [uploadKey(id)], told('key', id)),
          ),
          ...todo.content.map(({ asset_id: id, file_name }) =>
            entry(`Upload the content of ${plainName(file_name)}`, [command(uploadOf({ file_name, id }))], created(id)),
          ),
          ...todo.reviews.map(({ computation_id: id, name, run_id }) =>
            entry(
              `Review the result of ${plainName(name)}`,
              [command(`review ${id} --run ${run_id} --key ${keyFile}`)],
              told('review', id),
            ),
          ),
          ...todo.refusals.map(({ computation_id, name, user, reason, refused_at }) =>
            entry(
              `Refusal of ${userText(user)} to approve ${plainName(name)}`,
              [command(`approvals ${computation_id}`)],
              line([quotedText(reason), ...ago(refused_at)]),
            ),
          ),
          ...todo.invitations.map(({ computation_id: id, name, owner, expected }) =>
            entry(
              `Invitation of ${userText(owner)} to ${plainName(name)}, as ${expected.join(' and ')}`,
              expected.map((part) => (part === 'provider' ? command(`asset upload FILE --computation ${id}`) : uploadKey(id))),
              line(since('key', id).map((time) => `Invited ${time}`)),
            ),
          ),
          ...kinds
            .filter((kind) => todo.totals[kind] > todo[kind].length)
            .map((kind) => `These are ${todo[kind].length} of ${todo.totals[kind]} ${kind} that wait for you.\n`),
        ];
        return lines.length === 0 ? 'Nothing waits for you.\n' : lines.join('');
      });
      const old = oldText(todo.as_of, terminal.now());
      if (old) context.note(`${old}\n`);
    });
}

const mostListed = 20;

export function addStatusCommand(program: CmsCommand): void {
  program
    .subcommand('status', 'show what waits for you, the active runs, and which approvals that you gave on this machine expire')
    .connected(async (context) => {
      const { client, user, profile, command, terminal } = context;
      const now = terminal.now();
      const [{ totals }, running, stopping] = await Promise.all([
        client.getTodo(),
        page(client, 'listRuns', { status: 'running', limit: mostListed }),
        page(client, 'listRuns', { status: 'stopping', limit: mostListed }),
      ]);
      const ids = Object.entries(profile?.approved ?? {}).flatMap(([id, { expires_at }]) => (expires_at ? [id] : []));
      const learned = await learnOf(ids, terminal.signal, async (id, signal) => {
        return (await client.listApprovals({ id, signal }).catch(unlessUnknown))?.approvals ?? [];
      });
      terminal.signal.throwIfAborted();
      const expiring = [...learned]
        .flatMap(([computation_id, approvals]) =>
          approvals.map(({ user, stale, expires_at }) => ({ computation_id, user, stale, expires_at: expires_at ?? '' })),
        )
        .filter((approval) => approval.user === user && !approval.stale && approval.expires_at !== '')
        .sort((one, other) => (one.expires_at < other.expires_at ? -1 : 1));
      const runs = [...running.items, ...stopping.items];
      const active = running.total + stopping.total;
      const shown = [...new Set([...runs, ...expiring].map(({ computation_id }) => computation_id))];
      const rows = await findRows(client, 'listComputations', shown);
      const nameOf = (id: string) => plainName(rows.get(id)?.name ?? id);
      const row = (text: string) => hanging(`  ${text}`, terminal.columns);
      const unknown = ids.length - learned.size;
      context.print({ to_do: totals, active_runs: { items: runs, total: active }, expiring, unknown }, () => {
        const always = ['approvals', 'keys', 'content'];
        const told = Object.entries(totals).filter(([what, count]) => count !== 0 || always.includes(what));
        const waits = told.map(([what, count]) => `${count} ${count === 1 ? what.replace(/s$/, '') : what}`);
        return [
          `To do: ${waits.join(', ')}`,
          `Active runs: ${active}`,
          ...runs.map((run) =>
            row(`${nameOf(run.computation_id)} on ${run.cvm_id}, ${run.status} since ${agoText(run.started_at, now)}`),
          ),
          ...(active > runs.length ? [`  ${active - runs.length} more: ${command('runs --status running --all')}`] : []),
          `Approvals given on this machine that expire: ${expiring.length}${unknown === 0 ? '' : `, and ${unknown} not read in time`}`,
          ...expiring.map((each) => row(`${nameOf(each.computation_id)} expires ${agoText(each.expires_at, now)}`)),
          '',
        ].join('\n');
      });
      if (Object.values(totals).some((count) => count !== 0)) context.note(`Next: ${command('todo')}\n`);
    });
}
