import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../infra/bundles.ts';

/** Builds the bundles for a test run whose targets load their functions from there. Returns the clean-up. */
export default async function buildBundles(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-bundles-'));
  await bundleFunctions(folder);
  process.env['TARGET_BUNDLES'] = folder;
  return () => rmSync(folder, { recursive: true });
}
