import { afterAll, beforeAll, describe } from 'vitest';
import { findChromium } from './chromium.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';

const hasBrowser = (await findChromium()) !== undefined;
if (!hasBrowser) console.warn('The console is not tested: install Chrome, or set CHROMIUM to the path of a Chromium.');

/**
 * Describes stories that share one service and one browser, which start before them. Skips them if this machine has no browser.
 * Every story fails if the browser prints an error or a warning.
 */
export function describeConsole(title: string, tell: (world: () => ConsoleWorld) => void): void {
  describe.runIf(hasBrowser)(title, () => {
    let started: ConsoleWorld | undefined;
    beforeAll(async () => {
      started = await startConsoleWorld();
    });
    afterAll(async () => {
      await started?.stop();
    });
    tell(() => {
      if (!started) throw new Error('There is no browser.');
      return started;
    });
  });
}
