import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ownProgram = join(import.meta.dirname, '../../client/bin/cms.js');

/** What a command printed, on both outputs in order, and its exit code. */
export interface Typed {
  exitCode: number | null;
  output: string;
}

/** A terminal of a user, with a home of its own. */
export interface UserTerminal {
  home: string;
  /** Types a command line that begins with `cms`, without quotes. */
  type: (line: string) => Promise<Typed>;
}

/** Opens a terminal in `home`, where `server` is the service of all commands. @param program default: that of the repository */
export function openTerminal(home: string, server: string, program = ownProgram): UserTerminal {
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    CMS_SERVER: server,
  };
  return {
    home,
    type: async (line) => {
      const [, ...args] = line.split(' ').map((word) => word.replace(/^~/, home));
      const file = join(home, '.output');
      const output = openSync(file, 'w'); // one file keeps the order of both outputs
      const child = spawn(process.execPath, [program, ...args], { cwd: home, env, stdio: ['ignore', output, output] });
      const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
      closeSync(output);
      return { exitCode, output: readFileSync(file, 'utf8') };
    },
  };
}
