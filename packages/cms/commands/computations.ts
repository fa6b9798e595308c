import { type Arguments, type Item, type Schemas, wholeAnswer } from 'computation-management-client';
import { attestationPolicyInput } from 'computation-management-formats/attestation';
import { plainName } from 'computation-management-formats/quoted-name';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import { agoText, oldText, policyLines, userText, usersText } from 'computation-management-words';
import * as v from 'valibot';
import { parseDocument } from 'yaml';
import { describe } from '../collaboration/collaboration.ts';
import { computationVariable, named, thenUse, useComputation } from '../context/computation-reference.ts';
import { ownedText } from '../context/find-by-name.ts';
import { confirm, type Context, type Session } from '../context/context.ts';
import { textOf } from '../files/read-file.ts';
import { CmsError, UsageError } from '../terminal/cms-error.ts';
import { type Column, details, statusColour } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, given } from './options.ts';

interface Fields {
  name?: string;
  description?: string;
  owner?: string;
  approval?: 'none' | 'all' | 'all_signed';
  consumer?: string[];
  /** False with --no-consumers, which removes the limit of who gets the results. Otherwise true. */
  consumers?: boolean;
  reviewer?: string[];
  needed?: number;
  /** False with --no-reviewers, which ends the review of results. Otherwise true. */
  reviewers?: boolean;
  provider?: string[];
  /** False with --no-providers, which removes the limit of who may link assets. Otherwise true. */
  providers?: boolean;
  /** The file of the attestation policy. False with --no-attestation-policy, which removes the policy. */
  attestationPolicy?: string | false;
  logAccess?: 'none' | 'parties';
  logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

type Body = Arguments<'updateComputation'>['body'];

/** Returns the fields of a computation's request body that the options of a command give. */
async function bodyOf(context: Pick<Context, 'command'>, fields: Fields, before: Partial<Body> = {}) {
  const { name, description, owner, approval, consumer, consumers, provider, providers, logAccess, logLevel } = fields;
  const policy = fields.attestationPolicy;
  const { needed, reviewer = needed === undefined ? undefined : before.result_review?.reviewers } = fields;
  if (needed !== undefined && !reviewer) throw new UsageError('--needed goes with --reviewer.');
  return given({
    name,
    description,
    owner,
    approval,
    consumers: consumers === false ? [] : consumer,
    providers: providers === false ? [] : provider,
    result_review: fields.reviewers === false ? null : reviewer && { reviewers: reviewer, needed: needed ?? reviewer.length },
    attestation_policy: policy ? readPolicy(await textOf(policy), policy, context) : policy === false ? null : undefined,
    log_access: logAccess,
    agent_config: logLevel && { ...before.agent_config, log_level: logLevel },
  });
}

/** Parses an attestation policy in YAML or JSON, also under the name `attestation_policy`. @throws CmsError that names the wrong field */
export function readPolicy(text: string, file: string, { command }: Pick<Context, 'command'>) {
  const document = parseDocument(text);
  const given: unknown = document.errors.length > 0 ? undefined : document.toJS();
  const inner = v.safeParse(v.strictObject({ attestation_policy: v.unknown() }), given);
  const parsed = v.safeParse(attestationPolicyInput, inner.success ? inner.output.attestation_policy : given);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const names = (issue.path ?? []).map(({ key }) => key).filter((key) => typeof key === 'string');
  const what = names.length === 0 ? 'Expected the fields platforms and measurements, in YAML or JSON.' : describe(issue);
  const example = 'For example:\n  platforms: [snp]\n  measurements: [96 hex digits, 96 hex digits]';
  const message = `${file}: ${names.length === 0 ? '' : `${names.join('.')}: `}${what} ${example}`;
  throw new UsageError(message, command('cvm show CVM --policy'));
}

/** Prints a computation, without the private key of its agent. The service gives the key to those who may change the computation. */
function printComputation({ print, terminal }: Context, computation: Schemas['Computation']): void {
  const { server_key: _key, ...agent_config } = computation.agent_config;
  print({ ...computation, agent_config }, () => computationDetails(computation, terminal));
}

/** The options of `cms computation list` that say which computations, and in which order. */
type Filters = Pick<Arguments<'listComputations'>, 'status' | 'owner'> & { waiting?: true; changed?: true };

export function addComputationCommands(program: CmsCommand): void {
  const computation = program.subcommand('computation', 'create, find and change computations');

  computation
    .subcommand('list', 'list computations, newest first')
    .listOptions()
    .choice('--status <STATUS>', 'only those with this status', computationStatuses)
    .excluding('--owner <USER>', 'only those of exactly this user', ['waiting', 'changed'])
    .option('--waiting', 'only those that wait for you')
    .excluding('--changed', 'the last changed first', 'status')
    .does(async (context, options: ListOptions & Filters) => {
      const { status, owner, waiting, changed } = options;
      const filter = given({ status, owner, waiting_for: waiting && ('me' as const), sort: changed && ('updated' as const) });
      const columns: Column<Item<'listComputations'>>[] = [
        { title: 'id', value: ({ id }) => id },
        { title: 'name', value: ({ name }) => name, cuts: true },
        { title: 'owner', value: ({ owner }) => userText(owner) },
        { title: 'status', value: ({ status }) => status, colour: statusColour },
        { title: 'changed', value: (row) => agoText(row.updated_at, context.terminal.now()) },
      ];
      const hint = owner === undefined ? undefined : 'A user is matched exactly: type it as cms whoami prints it.\n';
      await listOf(context, 'listComputations', { filter, options, columns, first: 'computation create NAME', hint });
      if (!(waiting ?? changed)) return;
      const { client } = await context.connect();
      const todo = await client.getTodo().catch(() => undefined); // the list stands without it
      const old = todo ? oldText(todo.as_of, context.terminal.now()) : '';
      if (old) context.note(`${old}\n`);
    });

  computation
    .subcommand('create', 'create a computation')
    .argument('<NAME>', 'its name')
    .computationOptions()
    .connected(async (context, name: string, options: Fields) => {
      const created = await context.client.createComputation({ body: { ...(await bodyOf(context, options)), name } });
      await thenUse(context, created.id);
      printComputation(context, created);
      context.note(`Next: ${context.command(`asset upload FILE --type algorithm --computation ${created.id}`)}\n`);
    });

  computation.subcommand('show', 'show a computation: its settings, inputs and latest run').onComputation(async (context, id) => {
    printComputation(context, await context.client.getComputation({ id }));
  });

  computation
    .subcommand('update', 'change fields of a computation')
    .option('--name <NAME>', 'its name')
    .excluding('--no-consumers', 'remove the limit of --consumer: each result_consumer with a key gets the results', 'consumer')
    .excluding('--no-providers', 'remove the limit of --provider: each provider may link their own assets', 'provider')
    .excluding('--no-reviewers', 'end the review: consumers fetch results from the agent', ['reviewer', 'needed'])
    .option('--no-attestation-policy', 'let a run use any CVM')
    .computationOptions()
    .onComputation(async (context, id, options: Fields) => {
      const { client } = context;
      const { data: before, etag: ifMatch } = wholeAnswer(await client.call('getComputation', { id }));
      const changes = await bodyOf(context, options, before);
      if (Object.keys(changes).length === 0)
        throw new UsageError('Nothing to change: give an option with its new value.', context.help);
      const body = { ...before, ...changes };
      printComputation(context, await client.updateComputation({ id, body, ifMatch }));
    });

  const deleteOne = async (context: Session, id: string, { yes }: { yes?: boolean }) => {
    const { client } = context;
    const name = plainName((await client.getComputation({ id, peek: 'true' })).name);
    if (yes !== true) await confirm(context, `Delete the computation ${name} and all its events?`);
    await client.deleteComputation({ id });
    context.print({ deleted: id }, () => `Deleted ${name} (${id}).\n`);
  };
  computation
    .subcommand('delete', 'delete a computation with its events, runs, keys and links')
    .option('--yes', 'do not ask')
    .onComputation(deleteOne, '<COMPUTATION>');

  const useOne = async (context: Session, id: string) => {
    const row = await context.client.getComputation({ id, peek: 'true' });
    const variable = context.terminal.env[computationVariable];
    if (!(await useComputation(context, id))) {
      const { server, domain } = context;
      throw new CmsError(
        `The default computation is stored with a login, and you have none for the domain ${domain} at ${server}. Set ${computationVariable} instead.`,
        { next: `export ${computationVariable}=${id}` },
      );
    }
    context.print({ computation: id }, () => `Using ${ownedText(row)}.\n`);
    if (variable && named(context, id) !== '') {
      const note = `${computationVariable} is set: commands use that computation, and not this one.`;
      context.note(`${note}\nNext: unset ${computationVariable}\n`);
    }
  };
  computation.subcommand('use', 'make this computation the default of later commands').onComputation(useOne, '<COMPUTATION>');
}

/** Formats a computation with its inputs and its latest run. */
function computationDetails(computation: Schemas['ComputationView'], { now }: Pick<Terminal, 'now'>): string {
  const { id, name, description, owner, status, approval, log_access, consumers, providers, assets, run } = computation;
  const review = computation.result_review;
  const ago = (timestamp: string) => agoText(timestamp, now());
  const started = run && `started ${ago(run.started_at)} by ${userText(run.started_by)}`;
  return details([
    ['Name', name],
    ['Identifier', id],
    ['Description', description],
    ['Owner', userText(owner)],
    ['Status', status],
    ['Approval', approval],
    ['Consumers', usersText(consumers ?? [])],
    [
      'Reviewers',
      review && `${usersText(review.reviewers)}; a result needs ${review.needed} of ${review.reviewers.length} releases`,
    ],
    ['Providers', usersText(providers ?? [])],
    ['Attestation', policyLines(computation.attestation_policy ?? null)],
    ['Log access', log_access],
    ['Log level', computation.agent_config?.log_level],
    ['Created', ago(computation.created_at)],
    ['Changed', ago(computation.updated_at)],
    ['Inputs', assets?.map((asset) => `${asset.asset_type}  ${plainName(asset.file_name)}  ${asset.id}`)],
    ['Latest run', run && `${run.id} on ${run.cvm_id}: ${run.status}, ${started}`],
    ['Reason', run?.reason],
  ]);
}
