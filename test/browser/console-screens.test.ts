import { beforeAll, describe } from 'vitest';
import { describeConsole } from './describe-console.ts';
import { tellOfTheFirstLoad } from './first-load-story.ts';
import { tellOfTheHelp } from './help-story.ts';
import { tellOfTheKeyboard } from './keyboard-stories.ts';
import { tellOfLeaving } from './leaving-stories.ts';
import { tellOfThePage } from './page-stories.ts';
import { tellEveryScreen } from './screen-stories.ts';
import { tellHowToSignIn } from './sign-in-stories.ts';
import { tellStates } from './state-stories.ts';

describeConsole('the screens of the web console', (world) => {
  tellOfTheFirstLoad(world);
  tellHowToSignIn(world);
  tellOfTheHelp(world);
  tellOfTheKeyboard(world);
  tellOfLeaving(world);
  tellOfThePage(world);
  tellStates(world);

  describe("with React's checks for developers", () => {
    beforeAll(() => world().serve('development'));
    tellEveryScreen(world);
  });
});
