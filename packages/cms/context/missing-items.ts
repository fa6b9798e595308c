import { printable } from 'computation-management-formats/printable';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { shellWord } from '../terminal/shell-word.ts';
import { hanging } from '../terminal/text.ts';

/** What a run lacks, as the service lists it. */
interface MissingItems {
  keys: string[];
  hashes: string[];
  info: string[];
}

/** One thing that a run lacks, with the command that provides it, and who types it if that is known. */
interface MissingItem {
  sentence: string;
  /** Without `cms`. Undefined: nothing is missing, but an approval does not allow the CVM. */
  command: string | undefined;
  /** The user who must act, as `plainName` writes it. Undefined if several may. */
  user: string | undefined;
  /** Who must act, where the name of the user is not known. */
  role?: string;
}

export function isNothing({ keys, hashes, info }: MissingItems): boolean {
  return keys.length + hashes.length + info.length === 0;
}

/** Stands in commands for the file of a private key, where it is not known. With `.pub`, for that of the public key. */
export const keyFile = 'KEYFILE';

interface Circumstances {
  /** The computation. */
  id: string;
  /** Whether approvals must be signed. */
  isSigned?: boolean;
  /** The linked assets. Without them, commands name none. */
  assets?: readonly { id: string; file_name: string }[] | undefined;
  /** The file of the caller's private key, as a word of a shell. */
  ownKey?: { user: string; file: string } | undefined;
}

/** Explains what is missing before a run. */
export function missingItems(
  { keys, hashes, info }: MissingItems,
  { id, isSigned = false, assets = [], ownKey }: Circumstances,
): MissingItem[] {
  return [
    ...keys.map((user) => ({
      sentence: `The public key of ${plainName(user)}`,
      command: `key upload ${keyFile}.pub ${id}`,
      user: plainName(user),
    })),
    ...hashes.map((name) => ({
      sentence: `The content of ${plainName(name)}`,
      command: uploadOf({ file_name: name, id: assets.find(({ file_name }) => file_name === name)?.id }),
      user: undefined,
      role: 'its creator',
    })),
    ...info.map((sentence) => fromSentence(sentence, { id, isSigned, ownKey })),
  ];
}

/** A longer one would begin a line of the terminal. */
const longestName = 60;

/** Returns the command, without `cms`, with which its creator uploads the content of an asset. Without the asset, the one that lists such commands. */
export function uploadOf({ file_name, id }: { file_name: string; id: string | undefined }): string {
  const isShownAsItIs = file_name.length <= longestName && quotedName(file_name).startsWith(`"${file_name}"`);
  const file = isShownAsItIs ? shellWord(file_name.replace(/^-/, './-')) : 'FILE';
  return id === undefined ? 'todo' : `asset upload ${file} --asset ${id}`;
}

/** Returns the command, without `cms`, that approves a computation. */
export function approvalOf(id: string, isSigned: boolean, key = keyFile): string {
  return `approve ${id}${isSigned ? ` --sign ${key}` : ''}`;
}

/** The service words these sentences as docs/contract.md, section 9, says: names are as `plainName` writes them. */
const name = String.raw`([\w.@+-]+|"(?:[^"\\]|\\.)*"(?: \(not ASCII: [^)]*\))?)`;
const approvalOfUser = new RegExp(`^Approval of ${name} (?:for ${name}|as result consumer)$`);

/** Whether an approval is missing. */
export function namesApproval({ info }: MissingItems): boolean {
  return info.some((sentence) => approvalOfUser.test(sentence));
}

const limitOfUser = new RegExp(`^A(pproval of ${name}), (which allows (?:only|the CVM) .*)$`);

/** Whether an approval is there, but not for this CVM. To approve again without the limit is no remedy that a command may name. */
export const isLimit = ({ command }: MissingItem) => command === undefined;

export function missingTitle(items: readonly MissingItem[]): string {
  return items.every(isLimit) ? 'Nothing is missing, but approvals do not allow this CVM:' : 'Missing:';
}

function fromSentence(sentence: string, { id, isSigned = false, ownKey }: Circumstances): MissingItem {
  const limited = sentence.replace(limitOfUser, 'The a$1 is there, $3');
  if (limited !== sentence) return { sentence: limited, command: undefined, user: undefined };
  const user = approvalOfUser.exec(sentence)?.[1];
  if (user !== undefined) {
    const isOwn = ownKey && user === plainName(ownKey.user);
    return { sentence, command: approvalOf(id, isSigned, isOwn ? ownKey.file : undefined), user };
  }
  if (sentence === 'Missing algorithm') {
    return {
      sentence: 'An algorithm',
      command: `asset upload FILE --type algorithm --computation ${id}`,
      user: undefined,
    };
  }
  return { sentence, command: `computation show ${id}`, user: undefined };
}

/** Formats what is missing before a run: a line for each item, and below those that one command provides who types it. */
export function formatMissing(
  items: readonly MissingItem[],
  { user: caller, command: own }: { user: string | undefined; command: (text: string) => string },
): string {
  const groups = new Map<string, string[]>();
  const limits = items.filter(isLimit).map(({ sentence }) => `${hanging(`  ! ${printable(sentence)}`)}\n`);
  for (const { sentence, command, user, role } of items) {
    if (command === undefined) continue;
    const other = user === undefined ? role : caller !== undefined && user === plainName(caller) ? undefined : user;
    const who = other === undefined ? (user === undefined ? '' : 'you type: ') : `${other} types: `;
    const typed = `      ${who}${other === undefined ? own(command) : `cms ${command}`}\n`;
    groups.set(typed, [...(groups.get(typed) ?? []), `${hanging(`  ✗ ${printable(sentence)}`)}\n`]);
  }
  return [...groups, ...limits.map((limit) => ['', [limit]] as const)]
    .map(([typed, lines]) => `${lines.join('')}${typed}`)
    .join('');
}
