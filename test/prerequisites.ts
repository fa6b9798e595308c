import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import checks from './prerequisites.json' with { type: 'json' };

/** A check that `npm test` does not run, because it needs more than Node. .github/workflows/weekly.yml runs all of them. */
export interface Check {
  /** The npm script, or what one of its options does. */
  name: string;
  /** A command of bash before it, in the weekly workflow only. `$SOURCES` is a directory for sources of others. */
  prepare?: string;
  /** The command of bash. `$PYTHON` has the packages of `python`. */
  command: string;
  /** The time after which the weekly workflow stops it. */
  minutes: number;
  /** The only platform on which it runs. Default: any. */
  platform?: string;
  /** True if it needs the rights of root. Default: false. */
  root?: boolean;
  /** The programs that it starts, each with the Debian package that has it. */
  programs?: Record<string, string>;
  /** The Python packages that it needs, each with the version that was tried. */
  python?: Record<string, string>;
}

/** The checks that need more than Node, and what each needs. None needs Docker. */
export const prerequisites: readonly Check[] = checks;

/** The programs and packages that a machine has. */
export interface Machine {
  platform: string;
  isRoot: boolean;
  hasProgram: (name: string) => boolean;
  /** Returns the version of a package of Python. Undefined: Python or the package is missing. */
  versionIn: (python: string, name: string) => string | undefined;
}

const thisMachine: Machine = {
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  hasProgram: (name) => (process.env['PATH'] ?? '').split(':').some((folder) => isExecutable(join(folder, name))),
  versionIn: (python, name) => {
    const program = 'import importlib.metadata as m, sys; print(m.version(sys.argv[1]))';
    try {
      return execFileSync(python, ['-c', program, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  },
};

/** Returns a sentence for everything that a check needs and the machine lacks. It names what to install. */
export function missingFor(check: Check, python = 'python3', machine = thisMachine): string[] {
  const { name, platform, root, programs = {}, python: packages = {} } = check;
  const faults: string[] = [];
  if (platform !== undefined && machine.platform !== platform) faults.push(`${name} runs on ${platform} only.`);
  if (root && !machine.isRoot) faults.push(`${name} needs the rights of root.`);
  const lacking = Object.entries(programs).filter(([program]) => !machine.hasProgram(program));
  if (lacking.length > 0) {
    const debian = [...new Set(lacking.map(([, owner]) => owner))].join(' ');
    const what = lacking.map(([program]) => program).join(', ');
    faults.push(`${name} needs the programs ${what}. Install them, on Debian by: apt-get install ${debian}`);
  }
  const absent = Object.keys(packages).filter((each) => machine.versionIn(python, each) === undefined);
  if (absent.length > 0) {
    const wanted = Object.entries(packages).map(([each, version]) => `${each}==${version}`);
    faults.push(
      `${python} does not exist, or lacks the packages ${absent.join(', ')}. Install them with Python 3.10 or newer, and name that Python by ` +
        `--python ~/.cache/rehearsal/bin/python:\n\n  python3 -m venv ~/.cache/rehearsal\n  ~/.cache/rehearsal/bin/pip install ${wanted.join(' ')}`,
    );
  }
  return faults;
}

/** Checks that this machine has what a check needs. @throws Error that names what to install */
export function demandPrerequisites(name: string, python?: string): void {
  const check = prerequisites.find((each) => each.name === name);
  if (!check) throw new TypeError(`test/prerequisites.json has no check ${name}.`);
  const faults = missingFor(check, python);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
