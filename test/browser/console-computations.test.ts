import { tellOfConflicts } from './conflict-story.ts';
import { tellOfConsent } from './consent-stories.ts';
import { tellOfCopies } from './copy-stories.ts';
import { describeConsole } from './describe-console.ts';
import { tellFacts } from './fact-stories.ts';
import { tellOfFileKeys } from './file-key-stories.ts';
import { tellOfReviews } from './review-stories.ts';
import { tellOfTheSearch } from './search-stories.ts';
import { tellTasks } from './todo-stories.ts';
import { tellTexts } from './text-stories.ts';

describeConsole('computations in the web console', (world) => {
  tellOfConflicts(world);
  tellOfConsent(world);
  tellOfCopies(world);
  tellOfFileKeys(world);
  tellOfReviews(world);
  tellOfTheSearch(world);
  tellFacts(world);
  tellTasks(world);
  tellTexts(world);
});
