import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../infra/bundles.ts';

/** Builds the bundles if `TEST_BUNDLES` is 1: the service of the suite then loads its functions from there. Returns the clean-up. */
export default async function buildBundles(): Promise<(() => void) | undefined> {
  if (process.env['TEST_BUNDLES'] !== '1') return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'e2e-bundles-'));
  await bundleFunctions(folder);
  process.env['TARGET_BUNDLES'] = folder;
  return () => rmSync(folder, { recursive: true });
}
