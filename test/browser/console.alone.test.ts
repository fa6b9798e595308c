import { afterAll, beforeAll, describe } from 'vitest';
import { findChromium } from './chromium.ts';
import { tellOfConflicts } from './conflict-story.ts';
import { tellOfConsent } from './consent-stories.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';
import { tellOfExplainedRuns } from './explained-run-stories.ts';
import { tellOfCopies } from './copy-stories.ts';
import { tellFacts } from './fact-stories.ts';
import { tellOfTheFirstLoad } from './first-load-story.ts';
import { tellOfTheHelp } from './help-story.ts';
import { tellOfTheKeyboard } from './keyboard-stories.ts';
import { tellOfLeaving } from './leaving-stories.ts';
import { tellRuns } from './run-stories.ts';
import { tellEveryScreen } from './screen-stories.ts';
import { tellOfTheSearch } from './search-stories.ts';
import { tellHowToSignIn } from './sign-in-stories.ts';
import { tellStates } from './state-stories.ts';
import { tellTexts } from './text-stories.ts';
import { tellOfTheVerifier } from './verify-stories.ts';

const hasBrowser = (await findChromium()) !== undefined;
if (!hasBrowser) console.warn('The console is not tested: install Chrome, or set CHROMIUM to the path of a Chromium.');

/** All stories share one service and one browser. Each fails if the browser prints an error or a warning. */
describe.runIf(hasBrowser)('the web console', () => {
  let started: ConsoleWorld | undefined;
  const world = () => {
    if (!started) throw new Error('There is no browser.');
    return started;
  };
  beforeAll(async () => {
    started = await startConsoleWorld();
  });
  afterAll(async () => {
    await started?.stop();
  });

  describe('as it is deployed', () => {
    tellOfTheFirstLoad(world);
    tellHowToSignIn(world);
    tellRuns(world);
    tellOfCopies(world);
    tellOfExplainedRuns(world);
    tellOfTheVerifier(world);
    tellOfTheSearch(world);
    tellOfTheHelp(world);
    tellFacts(world);
    tellOfConflicts(world);
    tellOfConsent(world);
    tellOfTheKeyboard(world);
    tellOfLeaving(world);
    tellStates(world);
    tellTexts(world);
  });

  describe("with React's checks for developers", () => {
    beforeAll(() => world().serve('development'));
    tellEveryScreen(world);
  });
});
