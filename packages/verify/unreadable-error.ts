import { printable } from 'computation-management-formats/printable';

/** A file that cannot be checked at all. The message names it and what is wrong, perhaps with a part of the file. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';

  constructor(message: string) {
    super(printable(message));
  }
}
