import { afterAll, vi } from 'vitest';
import { forgetClients } from '../../shared/runtime/clients.ts';

/** Leaves the process to its next file of tests as this one has found it, also without spies and what clients of AWS were given. */
const { exitCode } = process;
const environment = { ...process.env };
const directory = process.cwd();
afterAll(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
  vi.restoreAllMocks();
  forgetClients();
  for (const name of Object.keys(process.env)) if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  process.chdir(directory);
  process.exitCode = exitCode;
});
