import { idOfComputation, idOfRun } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { runStatus, findRun, runKey } from '../rows/run.ts';
import { openKey } from '../rows/sealed-key.ts';
import { parseSnapshot, snapshotKeys } from '../rows/run-snapshot.ts';
import { cvmKeys } from '../table/keys.ts';
import { type Table, getItemEventually, getItems, type Item } from '../table/table.ts';
import { isOver, waitFor, type Wait } from '../http/wait.ts';
import { claimKey, parseClaim, parseClaimOf, type Claim } from '../rows/claim.ts';
import { commandSchema, type Command, type KeptCommand, type OpenCommand } from '../rows/command.ts';
import { refuseIfAtGateway, recordPresence } from '../rows/cvm.ts';
import { parseStored } from '../table/stored.ts';
import { timestampOf } from '../runtime/deadline.ts';
import type { Kms } from '../runtime/clients.ts';
import { StaleReadError, withFreshReads, readSettled } from '../table/transaction.ts';
import { namedObject, orNull } from 'computation-management-formats/fields';

export const heldRunSchema = namedObject('HeldRun', 'The run that holds a CVM.', {
  id: idOfRun,
  computation_id: idOfComputation,
  status: runStatus,
  run_command_id: v.pipe(v.string(), v.uuid(), v.description('The command that starts the run.')),
  accepted_at: orNull(timestamp, 'When the CVM accepted the run. null if it has not yet.'),
  stop_command_id: orNull(v.pipe(v.string(), v.uuid()), 'The command that stops the run. null until a stop is requested.'),
});
type HeldRun = v.InferOutput<typeof heldRunSchema>;

export interface Work<C = KeptCommand> {
  /** The commands for the CVM that have not expired, oldest first. */
  commands: C[];
  run: HeldRun | null;
}

const nothingToDo: Work = { commands: [], run: null };

/**
 * Lists the commands that a CVM has not answered, and the run that holds it. Records that the CVM was heard. Private keys in the
 * commands are still sealed: see openWork.
 */
export async function listCommands(table: Table, domain: string, cvmId: string, now: string): Promise<Work> {
  const { work } = await readCommands(table, domain, cvmId, now);
  return work;
}

/**
 * Reads the commands for a CVM and the run that holds it, all as of one moment. Records that the CVM was heard. One round trip,
 * or two if a run holds the CVM or its last sign of life must be written.
 * @param refuse throws to refuse the request, before anything is recorded
 */
async function readCommands(
  table: Table,
  domain: string,
  cvmId: string,
  now: string,
  refuse: (registered: Item | undefined) => void = () => undefined,
) {
  const cvm = { domain, cvm_id: cvmId };
  return await withFreshReads(table, async (table) => {
    const [registered, claimItem] = await getItems(table, [cvmKeys.cvm(domain, cvmId), claimKey(cvm)]);
    refuse(registered);
    const claim = parseClaim(claimItem);
    const [work] = await Promise.all([
      claim ? readWork(table, claim, now) : nothingToDo,
      recordPresence(table, { domain, cvmId, now }, registered),
    ]);
    return { work, issued: issuedOf(claim) };
  });
}

/** Opens, by KMS, the sealed private keys in the commands for a CVM. */
export async function openWork(kms: Kms, { commands, run }: Work): Promise<Work<OpenCommand>> {
  const open = async ({ agent_config, ...command }: KeptCommand): Promise<OpenCommand> =>
    agent_config
      ? {
          ...command,
          agent_config: {
            ...agent_config,
            server_key: await openKey(kms, { computation: command.computation_id }, agent_config.server_key),
          },
        }
      : command;
  return { commands: await Promise.all(commands.map(open)), run };
}

/**
 * Lists the commands that wait for a CVM, each as the identifier of the run and the kind of command, from its claim: the item
 * that says which run holds the CVM.
 */
function issuedOf(claim: Claim | undefined): string[] {
  return claim ? commandTypesOf(claim).map((type) => `${claim.run_id} ${type}`) : [];
}

/**
 * Reads the commands that wait for a CVM, with the manifest for a new run.
 * @param claim the item that says which run holds the CVM
 * @throws StaleReadError if the claim has changed so that other items are needed
 */
async function readWork(table: Table, claim: Claim, now: string): Promise<Work> {
  const { domain, run_id } = claim;
  const types = commandTypesOf(claim);
  const commandKeys = types.map((type) => cvmKeys.command(claim, type));
  const keys = [claimKey(claim), runKey(domain, run_id), ...commandKeys, ...(types.includes('run') ? snapshotKeys(claim) : [])];
  const [claimItem, runItem, ...others] = await readSettled(table, keys);
  const current = parseClaimOf(claim, claimItem);
  if (!current || commandTypesOf(current).join() !== types.join()) throw new StaleReadError();
  const run = findRun(runItem, run_id);
  if (!run) return nothingToDo; // its domain is being removed
  const commands = others
    .slice(0, types.length)
    .flatMap((item) => (item ? [parseStored(commandSchema, item, 'command')] : []))
    .filter((command) => command.expires_at > now)
    .sort((a, b) => a.issued_at.localeCompare(b.issued_at))
    .map(({ agent_config: _, ...command }): KeptCommand => {
      if (command.type === 'stop') return command;
      const { manifest, agent_config, attestation_policy } = parseSnapshot(others.slice(types.length));
      const { allow_reconnect, allow_used_guest } = attestation_policy ?? {};
      const { token_hash, process } = current;
      return { ...command, manifest, agent_config, token_hash, process, allow_reconnect, allow_used_guest };
    });
  return { commands, run: heldRun(current, run.status) };
}

function commandTypesOf({ offer_token, accepted_at, stop_token }: Claim): Command['type'][] {
  const types: Command['type'][] = [];
  if (offer_token !== undefined && accepted_at === undefined) types.push('run');
  if (stop_token !== undefined) types.push('stop');
  return types;
}

function heldRun({ run_id, computation_id, run_command_id, accepted_at, stop_command_id }: Claim, status: HeldRun['status']) {
  return {
    id: run_id,
    computation_id,
    status,
    run_command_id,
    accepted_at: accepted_at ?? null,
    stop_command_id: status === 'stopping' ? stop_command_id : null,
  };
}

/**
 * Returns the commands for a CVM that asks for itself, or waits until there is one, looking once a second at one item.
 * @throws ServiceError `forbidden` if the CVM is registered with a certificate: gateways serve it
 */
export async function watchCommands(
  table: Table,
  kms: Kms,
  { domain, cvmId, now }: { domain: string; cvmId: string; now: string },
  wait: Wait,
): Promise<Work<OpenCommand>> {
  const read = async (at: string) => {
    const { work, issued } = await readCommands(table, domain, cvmId, at, (registered) => refuseIfAtGateway(cvmId, registered));
    return { work: await openWork(kms, work), issued };
  };
  const { work, issued } = await read(now);
  if (work.commands.length > 0 || isOver(wait)) return work;
  const seen = await waitFor(
    table,
    wait,
    // Costs half a read unit. The answer may be late by a moment.
    async () => ({ claim: parseClaim(await getItemEventually(table, cvmKeys.claim(domain, cvmId))) }),
    // Commands that were issued before, and are not in the work, were answered or have expired.
    ({ claim }) => issuedOf(claim).some((command) => !issued.includes(command)),
  );
  if (work.run === null && !seen.claim) return work;
  const later = await read(timestampOf(wait.clock));
  return later.work;
}
