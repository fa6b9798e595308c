import { printable } from 'computation-management-formats/printable';
import { plainName } from 'computation-management-formats/quoted-name';
import { userText } from 'computation-management-words';
import { learnOf } from '../context/context.ts';
import { formatCoverage, coverageOf, staleApprovals, staleText } from '../context/coverage.ts';
import { approvalOf, keyFile, uploadOf } from '../context/missing-items.ts';
import { hanging } from '../terminal/text.ts';
import { plainReason } from './approvals.ts';
import type { CmsCommand } from './options.ts';

const kinds = ['approvals', 'keys', 'content', 'refusals', 'invitations'] as const;

/** The number of approvals for which `cms todo` shows what they cover. For further approvals it names the command that shows it. */
const mostShown = 3;

export function addTodoCommand(program: CmsCommand): void {
  program
    .subcommand('todo', 'list what waits for you: approvals, keys, content, refusals and invitations')
    .does(async (context) => {
      const connection = await context.connect();
      const { command, terminal } = context;
      const { client } = connection;
      const { signal } = terminal;
      const todo = await client.getTodo();
      const ids = context.isJson ? [] : todo.approvals.map(({ computation_id }) => computation_id);
      const isOwn = ({ user }: { user: string }) => user === connection.user;
      const [computations, stale] = await Promise.all([
        learnOf(ids, signal, (id, signal) => client.getComputation({ id, signal })),
        learnOf(ids, signal, (id, signal) => staleApprovals({ terminal: { ...terminal, signal } }, connection, id, isOwn)),
      ]);
      const covered = await learnOf(ids.slice(0, mostShown), signal, async (id, signal) => {
        const computation = computations.get(id);
        if (!computation) throw new TypeError('It was not read.');
        const covered = await coverageOf(context, connection, { id, computation, signal });
        return formatCoverage(covered, terminal, { computation, you: connection.user, stale: stale.get(id) });
      });
      signal.throwIfAborted();
      const items = kinds.flatMap((waits_for) => todo[waits_for].map((each) => ({ waits_for, ...each })));
      const entry = (sentence: string, commands: string[], more = '') => entryOf(sentence, commands, more, terminal.columns);
      context.print({ items, totals: todo.totals }, () => {
        const lines = [
          ...todo.approvals.map(({ computation_id: id, name, because }) =>
            entry(
              `Approve ${plainName(name)}, because of ${because.map(plainReason).join(', ')}`,
              [
                ...(covered.has(id) ? [] : [command(`check ${id}`)]),
                command(approvalOf(id, computations.get(id)?.approval === 'all_signed')),
              ],
              covered.get(id) ?? staleText(stale.get(id) ?? []),
            ),
          ),
          ...todo.keys.map(({ computation_id, name }) =>
            entry(`Upload your key to ${plainName(name)}`, [command(`key upload ${keyFile}.pub ${computation_id}`)]),
          ),
          ...todo.content.map(({ asset_id: id, file_name }) =>
            entry(`Upload the content of ${plainName(file_name)}`, [command(uploadOf({ file_name, id }))]),
          ),
          ...todo.refusals.map(({ computation_id, name, user }) =>
            entry(`Refusal of ${userText(user)} to approve ${plainName(name)}`, [command(`approvals ${computation_id}`)]),
          ),
          ...todo.invitations.map(({ computation_id: id, name, owner, expected }) =>
            entry(
              `Invitation of ${userText(owner)} to ${plainName(name)}, as ${expected.join(' and ')}`,
              expected.map((part) =>
                command(part === 'provider' ? `asset upload FILE --computation ${id}` : `key upload ${keyFile}.pub ${id}`),
              ),
            ),
          ),
          ...kinds.map((kind) => moreText(kind, todo[kind].length, todo.totals[kind])),
        ].filter((line) => line !== '');
        return lines.length === 0 ? 'Nothing waits for you.\n' : lines.join('');
      });
    });
}

/** Says how many approvals, keys or contents wait for the user beyond those that the service lists. */
function moreText(kind: string, listed: number, total: number | null): string {
  if (total === null) return `There may be more ${kind}: you take part in more than can be examined.\n`;
  return total > listed ? `These are ${listed} of ${total} ${kind} that wait for you.\n` : '';
}

/** Formats an entry of `cms todo`: a sentence, more lines, and the commands to type. */
const entryOf = (sentence: string, commands: string[], more: string, columns: number | undefined) =>
  `${hanging(printable(sentence), columns)}\n${more.replaceAll(/^(?=.)/gm, '  ')}${commands.map((each) => `    ${printable(each)}\n`).join('')}`;
