import type { Command } from 'commander';
import { printable } from 'computation-management-formats/printable';
import { learnOf, signedComputations, type WrapAction } from '../context/context.ts';
import { approvalOf, keyFile, uploadOf } from '../context/missing-items.ts';
import { whyStale } from '../context/stale-approvals.ts';

export function addTodoCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('todo')
    .description('list what waits for your approval, your key or your content')
    .action(
      wrapAction(async (context) => {
        const connection = await context.connect();
        const { command, terminal } = context;
        const { signal } = terminal;
        const todo = await connection.client.getTodo();
        const ids = context.isJson ? [] : todo.approvals.map(({ computation_id }) => computation_id);
        const isOwn = ({ user }: { user: string }) => user === connection.user;
        const [signed, stale] = await Promise.all([
          signedComputations(connection, ids, signal),
          learnOf(ids, signal, (id, signal) => whyStale({ terminal: { ...terminal, signal } }, connection, id, isOwn)),
        ]);
        signal.throwIfAborted();
        context.print(todo, () => {
          const lines = [
            ...todo.approvals.map(({ computation_id, name, because }) =>
              entry(
                `Approve ${name}, because of ${because.join(', ')}`,
                command(approvalOf(computation_id, signed.has(computation_id))),
                stale.get(computation_id),
              ),
            ),
            ...todo.keys.map(({ computation_id, name }) =>
              entry(`Upload your key to ${name}`, command(`key upload ${keyFile}.pub ${computation_id}`)),
            ),
            ...todo.content.map(({ asset_id: id, file_name }) =>
              entry(`Upload the content of ${file_name}`, command(uploadOf({ file_name, id }))),
            ),
          ];
          if (todo.truncated) lines.push('There may be more: you take part in more than can be examined.\n');
          return lines.length === 0 ? 'Nothing waits for you.\n' : lines.join('');
        });
      }),
    );
}

/** @param more lines */
const entry = (sentence: string, command: string, more = '') =>
  `${printable(sentence)}\n${more.replaceAll(/^(?=.)/gm, '  ')}    ${printable(command)}\n`;
