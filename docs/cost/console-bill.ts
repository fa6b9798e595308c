import { refreshSeconds } from '../../console/loading/refresh-seconds.ts';
import type { Measured } from './measured.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';
import { heldInSeconds } from './waiting-bill.ts';

/** What a screen of the console asks for as long as it is open and visible. */
interface Asking {
  everySeconds: number;
  calls: readonly string[];
}

/** How many different computations the page of runs shows in an hour. */
export const namesAnHour = 25;

const overview: Asking = {
  everySeconds: refreshSeconds.computation,
  calls: [
    'computations/get-computation, whole',
    'runs/dry-run',
    'approvals/list-approvals',
    'keys/check-key',
    'assets/list-assets, first page',
  ],
};

const runs: Asking = { everySeconds: refreshSeconds.runs, calls: ['runs/list-runs, first page'] };

/** The names of the computations on the page, each read once. */
const namesOfRuns: Asking = { everySeconds: 3_600 / namesAnHour, calls: ['computations/get-computation, peek'] };

const screens: Record<string, readonly Asking[]> = {
  'To do': [{ everySeconds: refreshSeconds.todo, calls: ['todo/get-todo, three approvals'] }],
  Computations: [{ everySeconds: refreshSeconds.computations, calls: ['computations/list-computations, first page'] }],
  'A computation': [overview],
  'A computation, its runs': [overview, runs],
  'A computation, its events': [overview, { everySeconds: refreshSeconds.events, calls: ['events/list-events, first page'] }],
  'A run that goes on': [{ everySeconds: heldInSeconds, calls: ['events/list-events, held for 20 s'] }],
  'A run that has ended, statistics, forms': [],
  Runs: [runs, namesOfRuns],
  Assets: [{ everySeconds: refreshSeconds.assets, calls: ['assets/list-assets, first page'] }],
  CVMs: [{ everySeconds: refreshSeconds.cvms, calls: ['cvms/list-cvms, first page'] }],
  'A CVM': [{ everySeconds: refreshSeconds.cvm, calls: ['cvms/get-cvm'] }],
};

/** Every screen has the side bar, which counts what waits for the user. */
const sideBar: Asking = { everySeconds: refreshSeconds.sideBar, calls: ['todo/get-todo, nothing'] };

/** An hour of each screen. */
export function consoleHourBills(measured: Measured): Record<string, Bill> {
  const priced = pricedBy(measured);
  const hour = ({ everySeconds, calls }: Asking) => calls.map((call) => [3_600 / everySeconds, priced(call)] as const);
  return Object.fromEntries(Object.entries(screens).map(([screen, asked]) => [screen, addUp([...asked, sideBar].flatMap(hour))]));
}
