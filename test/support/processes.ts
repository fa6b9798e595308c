import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Lists the child processes of a process, on Linux. */
export function childrenOf(pid: number): number[] {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((child) => parentOf(child) === pid);
}

/** Lists the descendants of a process, on Linux. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Whether a process runs, on Linux. One that has ended does not, even if it is still a zombie. */
export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined;
}

/** Returns the parent of a process that runs. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(parent);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH'].includes(code) && existsSync('/proc/self')) return undefined; // the process has ended in the meantime
    throw error;
  }
}
