import type { Schemas } from 'computation-management-client';
import { attestationPolicyInput, platforms } from 'computation-management-formats/attestation';
import { agoText, policyCautions } from 'computation-management-words';
import * as v from 'valibot';
import { stringify } from 'yaml';
import type { Context } from '../context/context.ts';
import { textOf } from '../files/read-file.ts';
import { unlessUnknown } from '../context/find-by-name.ts';
import { CmsError } from '../terminal/cms-error.ts';
import { details, statusColour } from '../terminal/table.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, given } from './options.ts';

/** The text of `cms cvm show` for a CVM whose agent has attested over a connection that is gone. */
const reconnected = 'reconnected: restart the agent, or allow reconnects in the policy';

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
          { title: 'attestation', value: ({ attestation }) => attestation?.verdict ?? 'none' },
          { title: 'seen', value: ({ presence: { last_seen_at: at } }) => (at === null ? 'never' : agoText(at, now())) },
        ],
      });
    });

  cvm
    .subcommand('show', 'show a registered CVM')
    .argument('<CVM>', 'its identifier')
    .option('--policy', 'print an attestation policy, in YAML, that the CVM satisfies as it is verified now')
    .connected(async (context, cvmID: string, { policy = false }: { policy?: boolean }) => {
      const found = await context.client.getCvm({ cvmID });
      const { presence, attestation } = found;
      if (policy) {
        const made = policyOf(context, found);
        context.print(made, () => `${policyHead}${leftOut(made)}${stringify(made)}`);
        return;
      }
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
          ['Attestation', attestation && `${attestation.verdict} ${agoText(attestation.verified_at, context.terminal.now())}`],
          ['Platform', attestation?.platform],
          ['Measurement', attestation?.measurement],
          ['TCB', attestation?.tcb && JSON.stringify(attestation.tcb)],
          ['Collateral', attestation?.checks.find(({ name, passed }) => name === 'collateral' && passed)?.detail],
          ['Failed checks', attestation?.checks.flatMap(({ name, passed, detail }) => (passed ? [] : [`${name}: ${detail}`]))],
          ['Connection', attestation?.connection === 'reconnected' ? reconnected : attestation?.connection],
        ]),
      );
    });

  cvm
    .subcommand('register', 'register a CVM, or change it; what no option names stays')
    .argument('<CVM>', 'its identifier')
    .option('--description <TEXT>', 'what it is')
    .option('--certificate <FILE>', 'the certificate that it presents, in PEM')
    .option('--agent-url <HOST:PORT>', 'where parties reach its agent')
    .connected(async (context, cvmID: string, options: { description?: string; certificate?: string; agentUrl?: string }) => {
      const { client } = context;
      const before = await client.getCvm({ cvmID }).catch(unlessUnknown);
      const { description = before?.description ?? '', agentUrl: agent_url } = options;
      const certificate = options.certificate === undefined ? undefined : await textOf(options.certificate);
      const made = await client.registerCvm({ cvmID, body: { description, ...given({ certificate, agent_url }) } });
      context.print(made, () => `Registered ${made.id}.\n`);
    });
}

const policyHead = `# Which machines may run a computation: cms computation update --attestation-policy FILE
# Made from a machine that is verified now. Compare the measurement with that of the image which you built or trust.
`;

/** Returns comments on what an attestation policy of a CVM with a vTPM leaves out. Empty for others. */
function leftOut(policy: Schemas['AttestationPolicy']): string {
  if (!policy.platforms.some((each) => each.endsWith('-vtpm'))) return '';
  const lines = [
    'It allows any PCRs: the service does not tell those of a CVM. Add the "pcrs" of your image.',
    ...policyCautions(policy),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

/**
 * Makes an attestation policy that a CVM satisfies as it is verified now. It is as strict as what the service tells of the CVM: it allows
 * any PCRs, which the service does not tell.
 * @throws CmsError if the CVM has no verified attestation
 */
function policyOf({ command }: Pick<Context, 'command'>, { id, attestation }: Schemas['Cvm']): Schemas['AttestationPolicy'] {
  const platform = platforms.find((each) => each === attestation?.platform);
  if (attestation?.verdict !== 'verified' || attestation.measurement === null || platform === undefined) {
    const why = attestation ? `Its attestation is ${attestation.verdict}.` : 'It has no attestation.';
    throw new CmsError(`No policy can be made from ${id}. ${why} Choose one that is verified.`, { next: command('cvm list') });
  }
  const { checks, measurement, tcb } = attestation;
  const isTdx = tcb !== null && 'status' in tcb;
  const level = /\d$/.exec(checks.find(({ name }) => name === 'vmpl')?.detail ?? '')?.[0]; // the service says it only there
  const accepted = isTdx ? { accepted_tcb_statuses: [tcb.status], accepted_advisories: tcb.advisories } : {};
  return v.parse(attestationPolicyInput, {
    platforms: [platform],
    measurements: [measurement],
    ...(level !== undefined && { vmpl: Number(level) }),
    minimum_tcb: isTdx ? null : tcb,
    ...accepted,
  });
}
