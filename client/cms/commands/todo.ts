import type { Command } from 'commander';
import type { Act } from '../act.ts';
import { demandsSignatures } from '../demands-signatures.ts';
import { approvalOf, uploadOf } from '../missing-items.ts';
import { printable } from '../output/text-width.ts';

export function addTodoCommand(program: Command, act: Act): void {
  program
    .command('todo')
    .description('list what waits for your approval, your key or your content')
    .action(
      act(async (context) => {
        const connection = await context.connect();
        const { client } = connection;
        const { command } = context;
        const todo = await client.getTodo();
        const signed = new Set<string>();
        for (const { computation_id: id } of context.isJson ? [] : todo.approvals) {
          if (await demandsSignatures(connection, id)) signed.add(id);
        }
        context.print(todo, () => {
          const lines = [
            ...todo.approvals.map(({ computation_id, name, because }) =>
              entry(
                `Approve ${name}, because of ${because.join(', ')}`,
                command(approvalOf(computation_id, signed.has(computation_id))),
              ),
            ),
            ...todo.keys.map(({ computation_id, name }) =>
              entry(`Upload your key to ${name}`, command(`key upload ~/.ssh/id_ed25519.pub ${computation_id}`)),
            ),
            ...todo.content.map(({ asset_id: id, file_name }) =>
              entry(`Upload the content of ${file_name}`, command(uploadOf({ file_name, id }))),
            ),
          ];
          return lines.length === 0 ? 'Nothing waits for you.\n' : lines.join('');
        });
      }),
    );
}

const entry = (sentence: string, command: string) => `${printable(sentence)}\n    ${printable(command)}\n`;
