export { creatorsInRun, hasMachine, type Input, loadComputation, loadOverview, type Overview, type Party } from './overview.ts';
export { ActionButton, LoadedView, Loading, ProblemAlert, ReadAgain, SignInAgain } from './problem-alert.tsx';
export { fieldErrors, type FieldErrors, nullIfAbsent, problemText } from './problem-text.ts';
export { type Action, keysForBodies, useAction, useChange } from './use-action.ts';
export { type Loaded, refreshSeconds, useLoaded } from './use-loaded.ts';
