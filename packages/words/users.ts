import { plainName } from 'computation-management-formats/quoted-name';

/**
 * Returns the identifier of a user so that no two users look alike: as it is if it is one plain word of ASCII, and otherwise in quotes, with
 * an escape such as `\u{0430}` for each other character. The text is never cut. Every table and list that shows users takes it from here.
 */
export function userText(user: string): string {
  if (/^[ -~]*$/.test(user)) return plainName(user);
  const escaped = (letter: string) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`;
  return `"${user.replace(/["\\]|[^ -~]|(?<= ) /gu, escaped)}"`;
}

/** Returns identifiers of users, each as `userText` does, as a list. Empty without users. */
export function usersText(users: readonly string[]): string {
  return users.map(userText).join(', ');
}
