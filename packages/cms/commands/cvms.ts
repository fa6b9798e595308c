import { ServiceProblem } from 'computation-management-client';
import { agoText } from 'computation-management-words';
import { textOf } from '../files/read-file.ts';
import { details, statusColour } from '../terminal/table.ts';
import { listOf, type ListOptions } from './list.ts';
import type { CmsCommand } from './options.ts';

export function addCvmCommands(program: CmsCommand): void {
  const cvm = program.subcommand('cvm', 'list CVMs, and show whether they can take a run');

  cvm
    .subcommand('list', 'list registered CVMs, newest first')
    .listOptions()
    .does(async (context, options: ListOptions) => {
      const { now } = context.terminal;
      await listOf(context, 'listCvms', {
        filter: {},
        options,
        columns: [
          { title: 'id', value: ({ id }) => id },
          { title: 'description', value: ({ description }) => description, cuts: true },
          { title: 'state', value: ({ presence }) => presence.state, colour: statusColour },
          { title: 'fit', value: ({ presence }) => presence.fit, colour: statusColour },
          {
            title: 'seen',
            value: ({ presence }) => (presence.last_seen_at === null ? 'never' : agoText(presence.last_seen_at, now())),
          },
        ],
      });
    });

  cvm
    .subcommand('show', 'show a registered CVM')
    .argument('<CVM>', 'its identifier')
    .does(async (context, cvmID: string) => {
      const { client } = await context.connect();
      const found = await client.getCvm({ cvmID });
      const { presence } = found;
      context.print(found, () =>
        details([
          ['Identifier', found.id],
          ['Description', found.description],
          ['State', presence.state],
          ['Fit', presence.fit],
          ['Agent', presence.agent_state],
          ['Seen', presence.last_seen_at && agoText(presence.last_seen_at, context.terminal.now())],
          ['Agent URL', found.agent_url],
          ['Certificate', found.certificate_fingerprint],
        ]),
      );
    });

  cvm
    .subcommand('register', 'register a CVM, or change it; what no option names stays')
    .argument('<CVM>', 'its identifier')
    .option('--description <TEXT>', 'what it is')
    .option('--certificate <FILE>', 'the certificate that it presents, in PEM')
    .option('--agent-url <HOST:PORT>', 'where parties reach its agent')
    .does(async (context, cvmID: string, options: { description?: string; certificate?: string; agentUrl?: string }) => {
      const { client } = await context.connect();
      const before = await client.getCvm({ cvmID }).catch((error: unknown) => {
        if (error instanceof ServiceProblem && error.code === 'not_found') return { description: '' };
        throw error;
      });
      const { description = before.description, certificate, agentUrl: agent_url } = options;
      const files = certificate === undefined ? {} : { certificate: await textOf(certificate) };
      const body = { description, ...files, ...(agent_url === undefined ? {} : { agent_url }) };
      const made = await client.registerCvm({ cvmID, body });
      context.print(made, () => `Registered ${made.id}.\n`);
    });
}
