import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Whether the type check that CI runs passes in this working copy. It takes seconds; what has not changed is known from before. */
export async function compiles(directory: string): Promise<boolean> {
  const options = ['--incremental', '--tsBuildInfoFile', 'mutants.tsbuildinfo'];
  const child = spawn(process.execPath, ['node_modules/typescript/bin/tsc', ...options], { cwd: directory, stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}
