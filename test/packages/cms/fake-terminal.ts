import type { ExitCode } from '../../../packages/cms/terminal/cms-error.ts';
import { runCms } from '../../../packages/cms/run-cms.ts';
import type { Terminal } from '../../../packages/cms/terminal/terminal.ts';

/** The output of a command, and its exit code. */
export interface Ran {
  exitCode: ExitCode;
  stdout: string;
  stderr: string;
}

/** Returns what a command printed without the line that says what it changes, which tests of names look at. */
export const withoutChanging = (ran: Ran): Ran => ({
  ...ran,
  stderr: ran.stderr.replace(/^(?:Changing the computation .* of .*\.|\{"changing":.*\})\n/m, ''),
});

/** Runs command lines in this process, as a user with the home `home`. */
export function cmsIn(home: string, given: Partial<Terminal> = {}): (...args: string[]) => Promise<Ran> {
  return async (...args) => {
    let [stdout, stderr] = ['', ''];
    const terminal: Terminal = {
      env: {},
      home,
      userName: 'alice',
      out: (text) => (stdout += text),
      err: (text) => (stderr += text),
      columns: undefined,
      colours: false,
      showsProgress: false,
      ask: undefined,
      openPage: () => undefined,
      now: Date.now,
      signal: new AbortController().signal,
      ...given,
    };
    return { exitCode: await runCms(args, terminal, '0.1.0'), stdout, stderr };
  };
}
