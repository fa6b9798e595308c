import { newKey } from 'computation-management-client';
import type { Approved } from 'computation-management-formats/consent';
import { shellWord } from 'computation-management-words';
import type { Party } from '../loading/overview.ts';

type Approver = Pick<Party, 'user' | 'parts' | 'files' | 'owes'>;

/** Returns whether the API would take an approval of a user: of the owner, creators of files, result consumers and reviewers. */
export function mayApprove(user: string, parties: readonly Approver[]): boolean {
  const { parts = [], files = [], owes = [] } = parties.find((each) => each.user === user) ?? {};
  return files.length > 0 || parts.some((part) => part !== 'provider') || owes.some(({ kind }) => kind === 'approval');
}

const dayInMilliseconds = 86_400_000;

/**
 * Returns the time at which an approval ends, or undefined if the approval has no end.
 * @param days the days from now as text: a whole number, or empty
 */
export function expiryAfter(days: string, now: number): string | undefined {
  return days === '' ? undefined : new Date(now + Number(days) * dayInMilliseconds).toISOString();
}

/** Makes a random UUID (version 4). Also in pages without https, which lack `crypto.randomUUID`. */
export function newUuid(): string {
  return newKey().replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

const mostRuns = 1_000;

/** Returns the number of runs that a user typed: 1 to 1,000. null: nothing is typed, so any number. Undefined: another text. */
export function runsIn(typed: string): number | null | undefined {
  if (typed.trim() === '') return null;
  const runs = Number(typed);
  return Number.isInteger(runs) && runs >= 1 && runs <= mostRuns ? runs : undefined;
}

/** Returns how many of the runs that an approval allows have started, such as `2 of 3 runs used`. */
export function runsText({ max_runs, used_runs }: { max_runs: number; used_runs: number | null }): string {
  return `${used_runs ?? 0} of ${max_runs} ${max_runs === 1 ? 'run' : 'runs'} used`;
}

/**
 * Returns the command that signs and approves exactly the manifest and configuration that the page shows. KEYFILE stands for the file of
 * the private key.
 */
export function approveCommand({
  domain,
  computation,
  manifest_digest,
  configuration_digest,
  cvm_ids = [],
  expires_at,
  max_runs,
}: Approved): string {
  return [
    `cms --domain ${shellWord(domain)} approve ${shellWord(computation)} --digest ${manifest_digest} --configuration ${configuration_digest}`,
    '--sign KEYFILE',
    ...cvm_ids.map((cvm) => `--cvm ${shellWord(cvm)}`),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
    ...(max_runs === undefined ? [] : [`--runs ${max_runs}`]),
  ].join(' ');
}
