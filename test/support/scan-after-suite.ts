import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SuiteState } from './suite-state.ts';

/**
 * Has the services of the end-to-end suite keep their state and logs on disk, and looks for private keys there after the suite.
 * Returns the clean-up, which throws if it finds one.
 */
export default function scanAfterSuite(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'e2e-state-'));
  const state = new SuiteState(directory);
  state.prepare();
  process.env['TARGET_STATE'] = directory;
  return () => {
    const found = state.filesWithPrivateKeys();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    if (found.length > 0) throw new Error(`After the suite, private keys of agents are in plain text in ${found.join(', ')}.`);
  };
}
