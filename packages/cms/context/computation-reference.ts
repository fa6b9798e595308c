import { detailsIn } from 'computation-management-formats/bytes';
import { printable } from 'computation-management-formats/printable';
import type { Schemas } from 'computation-management-client';
import { isNothing, machineHelp, shellWord } from 'computation-management-words';
import type { Profile } from '../profile/profile.ts';
import { asCmsError, UsageError } from '../terminal/cms-error.ts';
import { hanging } from '../terminal/text.ts';
import { asked, learnOf, type Session } from './context.ts';
import { identified } from './find-by-name.ts';

/** The parts of a session that say which computation is the default one. */
type Place = Pick<Session, 'terminal' | 'server' | 'domain' | 'profile'>;

export const computationVariable = 'CMS_COMPUTATION';

/**
 * Returns the identifier of the computation that a command names. Default: CMS_COMPUTATION, or the one that the profile used last. On a
 * terminal, asks for it if there is none.
 * @throws CmsError if none is named, or the name fits none or several
 */
export async function computationId(context: Session, reference: string | undefined): Promise<string> {
  const given = reference ?? defaultComputation(context) ?? (await asked(context, 'The computation (its name or identifier)'));
  if (given === undefined) {
    throw new UsageError('Name a computation, by its identifier or its name.', context.command('computation list'));
  }
  return await identified(context, 'computation', given);
}

/**
 * Returns the default computation, which a command without a computation acts on, by its identifier or its name: CMS_COMPUTATION, or the
 * one of the profile.
 */
export function defaultComputation(session: Place): string | undefined {
  const { terminal, profile } = session;
  return terminal.env[computationVariable] || (isOf(session, profile) ? profile.computation : undefined);
}

/** Returns the argument with which a command to type next names a computation. Empty if the computation is the default one. */
export function named(session: Place, id: string): string {
  return defaultComputation(session)?.toLowerCase() === id ? '' : ` ${id}`;
}

/**
 * Makes a computation the one of the following commands that name none, unless CMS_COMPUTATION names one.
 * @returns whether it is stored: only a login at this service and domain stores it
 */
export async function useComputation(session: Session, id: string): Promise<boolean> {
  const { profiles, profileName } = session;
  const profile = await profiles.read(profileName);
  if (!isOf(session, profile)) return false;
  if (profile.computation !== id) {
    await profiles.change(profileName, (stored) => (isOf(session, stored) ? { ...stored, computation: id } : stored));
  }
  session.profile = { ...profile, computation: id };
  return true;
}

/** Returns the fingerprint of the key that the caller last uploaded to a computation. Undefined if the computation has no key of the caller. */
export async function uploadedKey({ client, user }: Session, id: string): Promise<string | undefined> {
  const [{ uploaded }, { events }] = await Promise.all([
    client.checkKey({ id }),
    client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1 }),
  ]);
  const fingerprint = detailsIn(events[0]?.details ?? '')['fingerprint'];
  return uploaded ? String(fingerprint) : undefined; // it may have been removed since
}

/** The records that this machine keeps with a login, so that the service has no say in them: approvals by computation, and keys by asset. */
type Kept = Required<Pick<Profile, 'approved' | 'keys'>>;

/** Stores what this machine keeps with the login of a connection under an identifier. Undefined removes it. Without a login, stores nothing. */
export async function keepWithLogin<Part extends keyof Kept>(
  session: Session,
  part: Part,
  id: string,
  kept: Kept[Part][string] | undefined,
): Promise<void> {
  const { profiles, profileName, profile } = session;
  if (!isOf(session, profile)) return;
  await profiles.change(profileName, (stored) => {
    if (!isOf(session, stored)) return stored;
    const { [id]: _, ...others } = stored[part] ?? {};
    return { ...stored, [part]: { ...others, ...(kept && { [id]: kept }) } };
  });
}

/** Makes a computation the default as `useComputation` does, after a command has succeeded. An error of the storing is only noted. */
export async function thenUse(context: Session, id: string): Promise<void> {
  await useComputation(context, id).catch((error: unknown) => {
    context.note(`The computation ${id} could not become the default: ${asCmsError(error).message}\n`);
  });
}

/** Returns whether a profile is a login at the given service and domain. */
export function isOf({ server, domain }: Pick<Session, 'server' | 'domain'>, profile: Profile | undefined): profile is Profile {
  return profile?.server === server && profile.domain === domain;
}

/** The CVMs of a domain, judged for a run of a computation. */
interface Machines {
  /** The first CVM that can take the run now. Undefined if none can. */
  fitting: string | undefined;
  /** The reasons why the other CVMs cannot, one sentence for each CVM. */
  refusals: string[];
}

const mostMachines = 20;
const mostRefusals = 3;

/**
 * Asks the service which of the newest 20 registered CVMs satisfy the attestation policy of a computation and can take its run.
 * Undefined for a computation without a policy, which any CVM can run.
 */
export async function machinesFor(
  { terminal, client }: Session,
  { id, attestation_policy }: Pick<Schemas['Computation'], 'id' | 'attestation_policy'>,
): Promise<Machines | undefined> {
  if (!attestation_policy) return undefined;
  const { cvms, total } = await client.listCvms({ limit: mostMachines });
  const ask = async (cvm: string, signal: AbortSignal) => (await client.dryRun({ id, cvm, signal })).missing_items;
  const ids = cvms.map((cvm) => cvm.id);
  const learned = [...(await learnOf(ids, terminal.signal, ask))];
  const refusals = learned.flatMap(([, { info }]) => info.filter((sentence) => sentence.startsWith('The CVM ')).slice(0, 1));
  const shown = refusals.slice(0, mostRefusals).map((each) => each.replace(/([0-9a-f]{8})[0-9a-f]{88}/g, '$1…'));
  const others = total - shown.length;
  const rest = total === 0 ? ['No CVM is registered.'] : others > 0 ? [`${others} more: cms cvm list`] : [];
  return { fitting: learned.find(([, missing]) => isNothing(missing))?.[0], refusals: [...shown, ...rest] };
}

/** Says that no CVM of the domain can take the run of a computation, with the reasons, and what changes it. */
export function withoutMachine({ refusals }: Machines, columns: number | undefined): string {
  const advice = 'Connect one that fits, register another, or have the owner change the attestation policy.';
  const lines = ['No registered CVM can take its run:', ...refusals.map((each) => `  - ${printable(each)}`), advice];
  return lines.map((line) => `${hanging(line, columns)}\n`).join('') + machineHelp(advice);
}

/**
 * Returns a note with the command that starts a run of a computation that lacks nothing. Approvals may be for certain CVMs: the command
 * names one on which all needed approvals count.
 * @param wanted the CVM that the command names if the approvals allow it
 */
export async function nextRun(context: Session, id: string, wanted?: string): Promise<string> {
  const ofComputation = named(context, id);
  const cvms = await approvedCvms(context, id);
  if (cvms?.length === 0) {
    return `But the approvals are for different CVMs, so no run can start.\nNext: ${context.command(`approvals${ofComputation}`)}\n`;
  }
  const limit = cvms === undefined ? '' : `The approvals are only for runs on ${printable(cvms.join(', '))}.\n`;
  const isAllowed = wanted !== undefined && (cvms?.includes(wanted) ?? true);
  const cvm = isAllowed ? wanted : (cvms?.[0] ?? (await context.exampleCvm()));
  return `${limit}Next: ${context.command(`run${ofComputation} --cvm ${shellWord(cvm)} --watch`)}\n`;
}

/** Returns the CVMs on which all needed approvals of a computation count. Undefined: on all CVMs. */
async function approvedCvms({ client }: Session, id: string): Promise<string[] | undefined> {
  const { needed, approvals } = await client.listApprovals({ id });
  const users = needed.map(({ user }) => user);
  const limits = approvals.flatMap(({ user, stale, cvm_ids }) =>
    cvm_ids?.length && !stale && users.includes(user) ? [cvm_ids] : [],
  );
  const [first, ...others] = limits;
  return first?.filter((cvm) => others.every((cvms) => cvms.includes(cvm)));
}
