import { randomUUID } from 'node:crypto';
import { ApiError } from './api-error.ts';

/** A task that waits for its token to come back. */
export interface WaitingTask {
  succeed: (output: unknown) => void;
  fail: (error: string, cause: string) => void;
  heartbeat: () => void;
}

export interface TaskTokens {
  issue: () => string;
  open: (token: string, task: WaitingTask) => void;
  close: (token: string) => void;
  /** @throws ApiError InvalidToken, TaskTimedOut (the task is over) or TaskDoesNotExist (the token is of an earlier server). */
  waiting: (token: unknown) => WaitingTask;
}

/** Creates the task tokens of one server's lifetime, and keeps the tasks that wait for them. */
export function createTaskTokens(): TaskTokens {
  const server = randomUUID();
  const waiting = new Map<string, WaitingTask>();
  let issued = 0;
  return {
    issue: () => Buffer.from(JSON.stringify({ server, number: ++issued })).toString('base64url'),
    open: (token, task) => waiting.set(token, task),
    close: (token) => waiting.delete(token),
    waiting: (token) => {
      const task = waiting.get(String(token));
      if (task) return task;
      if (issuer(token) === server) throw new ApiError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
      throw new ApiError('TaskDoesNotExist', "Task does not exist: 'Provided task does not exist'");
    },
  };
}

function issuer(token: unknown): unknown {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(String(token), 'base64url').toString());
    if (typeof parsed === 'object' && parsed !== null && 'server' in parsed) return parsed.server;
  } catch {
    // Not one of our tokens: refused below.
  }
  throw new ApiError('InvalidToken', "Invalid Token: 'Invalid token'");
}
