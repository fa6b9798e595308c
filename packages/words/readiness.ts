import type { Schemas } from 'computation-management-client';
import { plainName, userText } from 'computation-management-formats/quoted-name';

/** An item that a run of a computation waits for. */
export interface MissingItem {
  /**
   * The kind of the missing item. `key`: a public key. `content`: the content of an asset. `approval`: an approval that is not given or
   * does not count. `refusal`: a needed approval that its user refuses to give. `limit`: an
   * approval that counts, but not for the chosen CVM. `algorithm`: no algorithm is linked. `other`: anything
   * else, in the words of the service.
   */
  kind: 'key' | 'content' | 'approval' | 'refusal' | 'limit' | 'algorithm' | 'other';
  /** The missing item in words, without a full stop. */
  sentence: string;
  /** The user who must provide the item, as `plainName` writes the name. Undefined if the user is not known. */
  user?: string | undefined;
  /** The name of the file whose content is missing. */
  file?: string | undefined;
}

/** Returns whether a run waits for nothing, by the missing items that the service lists. */
export function isNothing({ keys, hashes, info }: Schemas['MissingItems']): boolean {
  return keys.length + hashes.length + info.length === 0;
}

/** Describes the items that a run waits for: keys, then content, then all other items in the order of the service. */
export function describeMissing({ keys, hashes, info }: Schemas['MissingItems']): MissingItem[] {
  return [
    ...keys.map((user): MissingItem => ({ kind: 'key', sentence: `The public key of ${userText(user)}`, user: plainName(user) })),
    ...hashes.map((file): MissingItem => ({ kind: 'content', sentence: `The content of ${plainName(file)}`, file })),
    ...info.map(fromSentence),
  ];
}

/**
 * The pattern of a name in sentences of the service about missing items (docs/contract.md, section 9), which write names as `plainName`
 * does.
 */
const name = String.raw`([\w.@+-]+|"(?:[^"\\]|\\.)*"(?: \(not ASCII: [^)]*\))?)`;
const approvalOfUser = new RegExp(
  `^Approval of ${name}(?: for ${name}| as result consumer| as reviewer|, for \\d+ runs?, all used)$`,
);
const refusalOfUser = new RegExp(`^${name} refuses: `);
const limitOfUser = new RegExp(`^A(pproval of ${name}), (which allows (?:only|the CVM) .*)$`);

function fromSentence(sentence: string): MissingItem {
  const limited = sentence.replace(limitOfUser, 'The a$1 is there, $3');
  if (limited !== sentence) return { kind: 'limit', sentence: limited };
  const user = approvalOfUser.exec(sentence)?.[1];
  if (user !== undefined) return { kind: 'approval', sentence, user };
  const refuser = refusalOfUser.exec(sentence)?.[1];
  if (refuser !== undefined) return { kind: 'refusal', sentence, user: refuser };
  return sentence === 'Missing algorithm' ? { kind: 'algorithm', sentence: 'An algorithm' } : { kind: 'other', sentence };
}

/**
 * The state of a user's approval. `missing`: there is none. `given`, `signed`: it counts, without and with a signature. `unsigned`:
 * it does not count for want of a signature. `stale`: it does not count for another reason, such as a change of the manifest, or because it has expired.
 */
export type ApprovalState = 'missing' | 'given' | 'signed' | 'unsigned' | 'stale';

/** A user whose approval is needed, or who gave one without need. */
export interface ApprovalRow {
  user: string;
  /** The reasons why the user's approval is needed: names of files, `result consumer` or `reviewer`. Empty if it is not needed. */
  because: string[];
  state: ApprovalState;
  approval: Schemas['Approval'] | undefined;
}

/** Returns a row for each user whose approval is needed, then for each who gave one without need. */
export function approvalRows({ needed, approvals }: Pick<Schemas['Approvals'], 'needed' | 'approvals'>): ApprovalRow[] {
  const neededUsers = new Set(needed.map(({ user }) => user));
  const unneeded = approvals.filter(({ user }) => !neededUsers.has(user)).map(({ user }) => ({ user, because: [] }));
  return [...needed, ...unneeded].map(({ user, because }) => {
    const approval = approvals.find((given) => given.user === user);
    return { user, because, state: stateOf(approval), approval };
  });
}

function stateOf(approval: Schemas['Approval'] | undefined): ApprovalState {
  if (!approval) return 'missing';
  const lacksSignature = approval.stale_because?.some(({ path, current }) => path === '/signature' && current === 'required');
  if (lacksSignature === true) return 'unsigned';
  if (approval.stale) return 'stale';
  return approval.signed ? 'signed' : 'given';
}

/** Returns whether the approval of a user is there and counts. */
export function isGiven({ state }: Pick<ApprovalRow, 'state'>): boolean {
  return state === 'given' || state === 'signed';
}
