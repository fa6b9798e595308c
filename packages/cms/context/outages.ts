import type { ServiceProblem } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { sentence } from 'computation-management-words';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Notes once that the service does not answer, and once that it answers again. */
export interface Outages {
  began: (problem: Pick<ServiceProblem, 'detail'>) => void;
  ended: () => void;
  /** Sends the notes elsewhere, such as above a live line. */
  noteWith: (note: (text: string) => void) => void;
}

/** Returns the notes about outages of a command. @param note prints a note */
export function watchOutages(note: (text: string) => void): Outages {
  let write = note;
  let isOut = false;
  return {
    began: ({ detail }) => {
      if (!isOut) write(`${sentence(printable(detail))} Trying again.\n`);
      isOut = true;
    },
    ended: () => {
      if (isOut) write('The service answers again.\n');
      isOut = false;
    },
    noteWith: (other) => (write = other),
  };
}

/** Returns whether an answer comes from the service itself, and does not say that it is busy. */
export function isAnswered({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  return status < 500 && status !== 429 && (headers.get('content-type') ?? '').includes('json');
}

/** Returns the error of a command that Ctrl-C has ended, or another error as it is. */
export function interrupted(
  error: unknown,
  { signal }: Pick<Terminal, 'signal'>,
  message = 'Interrupted.',
  next?: string,
): unknown {
  const isSaid = error instanceof CmsError && error.exitCode === exitCodes.interrupted;
  return signal.aborted && !isSaid ? new CmsError(message, { next, exitCode: exitCodes.interrupted, cause: error }) : error;
}
