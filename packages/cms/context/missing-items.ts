import type { Schemas } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { describeMissing, type MissingItem, shellWord } from 'computation-management-words';
import { hanging } from '../terminal/text.ts';

/** An item that a run waits for, with the command that provides it. */
interface TypedItem extends MissingItem {
  /**
   * The command, without `cms`, that provides the missing item. Undefined for an approval that does not allow the CVM: to approve again
   * without the limit is no remedy that a command may name.
   */
  command: string | undefined;
}

/** The placeholder in commands for the file of a private key whose path is not known. With `.pub`, for the file of the public key. */
export const keyFile = 'KEYFILE';

interface Circumstances {
  /** The identifier of the computation. */
  id: string;
  /** True if the approvals of the computation must be signed. */
  isSigned?: boolean;
  /** The linked assets of the computation. If undefined, the commands to type next name no assets. */
  assets?: readonly { id: string; file_name: string }[] | undefined;
  /** The caller and the file of the caller's private key, quoted as a word of a shell. */
  ownKey?: { user: string; file: string } | undefined;
}

/** Explains what a run waits for, with the commands that provide it. */
export function missingItems(missing: Schemas['MissingItems'], circumstances: Circumstances): TypedItem[] {
  return describeMissing(missing).map((item) => ({ ...item, command: commandFor(item, circumstances) }));
}

function commandFor(
  { kind, user, file = '' }: MissingItem,
  { id, isSigned = false, assets = [], ownKey }: Circumstances,
): string | undefined {
  switch (kind) {
    case 'key':
      return `key upload ${keyFile}.pub ${id}`;
    case 'content':
      return uploadOf({ file_name: file, id: assets.find(({ file_name }) => file_name === file)?.id });
    case 'approval':
    case 'refusal':
      return approvalOf(id, isSigned, ownKey && user === plainName(ownKey.user) ? ownKey.file : undefined);
    case 'algorithm':
      return `asset upload FILE --type algorithm --computation ${id}`;
    case 'limit':
      return undefined;
    case 'other':
      return `computation show ${id}`;
  }
}

/** The longest name of a file, in characters, that commands to type next repeat. A longer name would begin a line of the terminal. */
const longestName = 60;

/**
 * Returns the command, without `cms`, with which the creator of an asset uploads its content. If the identifier of the asset is not known,
 * the command that lists such commands.
 */
export function uploadOf({ file_name, id }: { file_name: string; id: string | undefined }): string {
  const isShownAsItIs = file_name.length <= longestName && quotedName(file_name).startsWith(`"${file_name}"`);
  const file = isShownAsItIs ? shellWord(file_name.replace(/^-/, './-')) : 'FILE';
  return id === undefined ? 'todo' : `asset upload ${file} --asset ${id}`;
}

/** Returns the command, without `cms`, that approves a computation. */
export function approvalOf(id: string, isSigned: boolean, key = keyFile): string {
  return `approve ${id}${isSigned ? ` --sign ${key}` : ''}`;
}

/** Returns whether an approval is among the items that a run waits for. */
export function namesApproval(missing: Schemas['MissingItems']): boolean {
  return describeMissing(missing).some(({ kind }) => kind === 'approval');
}

/** Returns whether an item that a run waits for is an approval that counts, but does not allow the chosen CVM: then nothing is missing. */
export const isLimit = ({ kind }: Pick<MissingItem, 'kind'>) => kind === 'limit';

/** Returns the sentence above the list of items that a run waits for. */
export function missingTitle(items: readonly MissingItem[]): string {
  return items.every(isLimit) ? 'Nothing is missing, but approvals do not allow this CVM:' : 'Missing:';
}

/** Formats what a run waits for: a line for each item, and below the items that one command provides, the user who types the command. */
export function formatMissing(
  items: readonly TypedItem[],
  { user: caller, command: own }: { user: string | undefined; command: (text: string) => string },
): string {
  const groups = new Map<string, string[]>();
  const limits = items.filter(isLimit).map(({ sentence }) => `${hanging(`  ! ${printable(sentence)}`)}\n`);
  for (const { kind, sentence, command, user } of items) {
    if (command === undefined) continue;
    const isOwn = user !== undefined && caller !== undefined && user === plainName(caller);
    const other = kind === 'content' ? 'its creator' : isOwn ? undefined : user;
    const typed = `      ${other === undefined ? `${isOwn ? 'you type: ' : ''}${own(command)}` : `${other} types: cms ${command}`}\n`;
    groups.set(typed, [...(groups.get(typed) ?? []), `${hanging(`  ✗ ${printable(sentence)}`)}\n`]);
  }
  return [...groups, ...limits.map((limit) => ['', [limit]] as const)]
    .map(([typed, lines]) => `${lines.join('')}${typed}`)
    .join('');
}
