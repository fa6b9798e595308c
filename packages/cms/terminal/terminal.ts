import { spawn } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes } from './cms-error.ts';

/** The parts of a process that a command uses. */
export interface Terminal {
  env: Record<string, string | undefined>;
  home: string;
  /** The name of the user on this machine, if it has one. */
  userName: string | undefined;
  /** Prints results on standard output. */
  out: (text: string) => void;
  /** Prints progress, notes and errors on standard error. */
  err: (text: string) => void;
  /** The width of standard output in characters. Undefined if it is not a terminal. */
  columns: number | undefined;
  /** True if standard output takes colours. */
  colours: boolean;
  /** True if standard error is a terminal, on which progress is shown. */
  showsProgress: boolean;
  /** Asks a question and returns the answer. Undefined if nobody can answer. */
  ask: ((question: string, options?: { hidden?: boolean }) => Promise<string>) | undefined;
  /** Opens a web page in the browser of the user. */
  openPage: (url: string) => void;
  /** Returns the present time in milliseconds since 1970. */
  now: () => number;
  /** The signal that Ctrl-C aborts. */
  signal: AbortSignal;
}

/** The terminal of this process. Ctrl-C aborts its signal once, and ends the process the second time. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  stdout.on('error', endUnwritten);
  stderr.on('error', endIfUnread); // notes that are lost change no outcome
  return {
    env,
    home: homeIn(),
    get userName() {
      return userNameIn(env);
    },
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    columns: (stdout.isTTY && stdout.columns) || undefined, // 0 where the terminal does not know
    colours: stdout.isTTY && stdout.hasColors() && !env['NO_COLOR'],
    showsProgress: stderr.isTTY && env['TERM'] !== 'dumb',
    ask: stdin.isTTY && stderr.isTTY ? (question, options) => ask(question, interrupted, options) : undefined,
    openPage,
    now: Date.now,
    signal: interrupted.signal,
  };
}

/** Returns the home directory of the user, or '' of one whom the machine does not know. An empty HOME is ignored. */
function homeIn(): string {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch {
    return '';
  }
}

/**
 * Returns the name of the user on this machine. A container may run as a user whom the machine does not know: then the variable USER
 * counts.
 */
function userNameIn(env: Terminal['env']): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] || undefined;
  }
}

/** The exit code of a program that writes to a reader that has gone, such as `head`: 128 and the number of SIGPIPE. */
const unreadExitCode = 141;

function endIfUnread({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit(unreadExitCode);
}

function endUnwritten(error: NodeJS.ErrnoException): void {
  endIfUnread(error);
  const { code, message } = error;
  const reason = code === 'ENOSPC' ? 'no space is left on the device' : message;
  process.stderr.write(`The output could not be written: ${reason}.\n`);
  process.exit(exitCodes.failure);
}

async function ask(question: string, interrupted: AbortController, { hidden = false } = {}): Promise<string> {
  const { stdin, stderr } = process;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (hidden) stderr.write(question);
  const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: true });
  lines.once('SIGINT', () => interrupted.abort()); // a terminal that is asked gives Ctrl-C to its reader alone
  try {
    return await lines.question(hidden ? '' : question, { signal: interrupted.signal });
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}

function openPage(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .once('error', () => undefined)
    .unref();
}
