import { tellOfClicks } from './click-stories.ts';
import { describeConsole } from './describe-console.ts';
import { tellOfExplainedRuns } from './explained-run-stories.ts';
import { tellOfResults } from './result-stories.ts';
import { tellRuns } from './run-stories.ts';
import { tellOfTheVerifier } from './verify-stories.ts';

describeConsole('runs in the web console', (world) => {
  tellOfClicks(world);
  tellRuns(world);
  tellOfExplainedRuns(world);
  tellOfResults(world);
  tellOfTheVerifier(world);
});
