import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The output of a command, standard output and errors in order, and its exit code. */
export interface Typed {
  exitCode: number;
  output: string;
}

/** A shell, which keeps its folder and its variables from one line to the next. */
export interface UserTerminal {
  type: (line: string) => Promise<Typed>;
  close: () => void;
}

interface Options {
  /** The directory in which the command starts. */
  folder: string;
  /** A folder with programs that go before those of this machine. */
  programs: string;
  home: string;
  /** The service of all commands. */
  server: string;
}

export function openTerminal({ folder, programs, home, server }: Options): UserTerminal {
  const env = {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    HOME: home,
    CMS_SERVER: server,
  };
  const shell = spawn('sh', { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  return {
    type: async (line) => {
      const file = join(home, '.output');
      // One file keeps the order of both outputs. The braces let `cd` and `export` last.
      shell.stdin.write(`{ ${line}\n} </dev/null >'${file}' 2>&1; echo $?\n`);
      const [exitCode] = (await once(shell.stdout, 'data')) as [Buffer];
      return { exitCode: Number(exitCode), output: readFileSync(file, 'utf8') };
    },
    close: () => void shell.stdin.end(),
  };
}
