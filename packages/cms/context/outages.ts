import type { ServiceProblem } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { sentence } from 'computation-management-words';
import { CmsError, errorOf, exitCodes } from '../terminal/cms-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Notes once that the service does not answer, and once that the service answers again. */
export interface Outages {
  began: (problem: Pick<ServiceProblem, 'detail'>) => void;
  /** Notes by a text that a request has no answer so far. */
  waits: (text: string) => void;
  ended: () => void;
  /** Sends the notes about outages to another function, such as one that prints above a live line. */
  noteWith: (note: (text: string) => void) => void;
}

/** Returns the object that notes outages of the service during a command. @param note prints a note */
export function watchOutages(note: (text: string) => void): Outages {
  let write = note;
  let isOut = false;
  const began = (text: string) => {
    if (!isOut) write(text);
    isOut = true;
  };
  return {
    began: ({ detail }) => began(`${sentence(printable(detail))} Trying again.\n`),
    waits: began,
    ended: () => {
      if (isOut) write('The service answers again.\n');
      isOut = false;
    },
    noteWith: (other) => (write = other),
  };
}

/** Returns whether an answer comes from the service itself, and does not say that the service is busy. */
export function isAnswered({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  return status < 500 && status !== 429 && (headers.get('content-type') ?? '').includes('json');
}

/** Returns the error that a command ends with: that of the interruption if Ctrl-C has ended the command, otherwise the given one. */
export function interrupted(
  error: unknown,
  { signal }: Pick<Terminal, 'signal'>,
  message = 'Interrupted.',
  next?: string,
): unknown {
  const isSaid = error instanceof CmsError && error.exitCode === exitCodes.interrupted;
  return signal.aborted && !isSaid ? errorOf('interrupted', message, next, error) : error;
}
