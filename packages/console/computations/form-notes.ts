import { quotedName, lookAlikeOf } from 'computation-management-formats/quoted-name';

/** The users who were seen in a domain, as owners and creators. */
export interface Seen {
  users: readonly string[];
  /** True if everything in the domain was looked at, not only the newest. */
  isWhole: boolean;
}

/** Returns what may be wrong with each of the users that a form names, a sentence for each. */
export function userNotes(names: readonly string[], seen: Seen | undefined): string[] {
  return names.flatMap((name) => {
    const quoted = quotedName(name);
    if (/[\p{Cf}\p{DI}\u2800]/u.test(name))
      return [`${quoted} has an invisible character in it. Delete this line, then type the name, or press it after Add.`];
    if (/\s/.test(name)) return [`${quoted} has a space in it. If it is two users, put each on a line of its own.`];
    const alike = lookAlikeOf(name, seen?.users ?? []);
    if (alike !== undefined)
      return [
        `${quoted} looks like ${quotedName(alike)}, and is another user. Delete this line, unless you mean that user, and press the other one after Add.`,
      ];
    if (!seen || seen.users.includes(name)) return [];
    const where = seen.isWhole ? 'was never seen in this domain' : 'is not among the users of the newest computations and files';
    return [`${quoted} ${where}. Ask for the name that cms whoami shows: another spelling is another user.`];
  });
}

/** Returns what is wrong with a text in a field that takes PEM or a path inside the CVM. Undefined if nothing is. */
export function pemNote(text: string, what: 'certificate' | 'private key'): string | undefined {
  const given = text.trim();
  if (given === '' || given.startsWith('/')) return undefined;
  const begin = what === 'certificate' ? '-----BEGIN CERTIFICATE-----' : '-----BEGIN';
  if (given.includes('-----BEGIN')) {
    if (!given.includes(begin)) return `This is no ${what}: its first line is not ${begin}. Paste the file that begins so.`;
    return given.includes('-----END')
      ? undefined
      : `This ${what} is cut: its last line, -----END …, is missing. Paste the whole file.`;
  }
  return `${quotedName(given.slice(0, 40))} is no ${what} in PEM. Is it a path inside the CVM? Such a path begins with /.`;
}
