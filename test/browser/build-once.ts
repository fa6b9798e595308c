import { buildConsole } from '../../local/pages/console-build.ts';
import { findChromium } from './chromium.ts';

/**
 * Unpacks the browser, and builds the console for production and development, before the files of this folder start at the same time.
 * Does nothing if both were built from these sources before. A build that fails is repeated, and reported, by the tests.
 */
export default async function buildOnce(): Promise<void> {
  if ((await findChromium()) === undefined) return;
  await Promise.all([buildConsole({ isUrgent: true }).done, buildConsole({ mode: 'development', isUrgent: true }).done]);
}
