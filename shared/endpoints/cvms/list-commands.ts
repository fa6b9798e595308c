import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { waitParameter } from '../../http/wait-parameter.ts';
import { commandSchema } from '../../runs/command.ts';
import { heldRunSchema } from '../../runs/list-commands.ts';
import { strictObject } from '../../strict-object.ts';
import { waiting } from '../../uses.ts';
import { command, heldRun } from '../samples.ts';

export const route = {
  name: 'cvms/list-commands',
  endpoint: 25,
  method: 'GET',
  path: '/{domainID}/cvms/{cvmID}/commands',
  summary: 'List the open commands of a CVM, oldest first, and its active run',
  access: { anyOf: ['operate_cvm'] },
  uses: { table: ['GetItem', 'BatchGetItem', 'UpdateItem', ...waiting], sealingKey: ['Decrypt'] },
  waits: true,
  impact: 'CVMs get no commands, so new runs are not accepted and fail.',
} as const satisfies Route;

export const contract = {
  query: strictObject({ wait: waitParameter }),
  status: 200,
  response: v.pipe(
    v.object({
      commands: v.pipe(
        v.array(commandSchema),
        v.description('The open commands of the CVM, oldest first.'),
        v.metadata({ maxItems: 2 }), // to run and to stop the run that holds the CVM
      ),
      run: v.pipe(v.nullable(heldRunSchema), v.description('The active run that holds the CVM. null if none does.')),
    }),
    v.title('CommandList'),
    v.description('The open commands of a CVM, and the run that holds it.'),
  ),
  description:
    'Returns a command until the CVM accepts or rejects it, or until it expires. A request to stop the run withdraws its `run` command if ' +
    'that was not accepted. With `wait`, the response is held until there is a command. Commands of type `run` have `manifest` and ' +
    '`agent_config`.',
} as const satisfies Contract;

export const examples = { response: { commands: [command], run: heldRun } } satisfies Examples<typeof contract>;
