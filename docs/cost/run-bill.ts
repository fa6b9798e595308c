import { behaviour } from './behaviour.ts';
import { gigabyte } from './call-bill.ts';
import type { Measured } from './measured.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';
import { transitionsOf } from './transitions.ts';

/** An execution of the state machine without its steps. */
export function executionBill(action: 'run' | 'stop'): Bill {
  return {
    'Step Functions transition': transitionsOf(action),
    'CloudWatch GB logged': behaviour.executionLogInBytes / gigabyte,
  };
}

/** What belongs to a run: from its dry run to its last event, its CVM's polling included. */
export function runBills(measured: Measured, minutes: number): Record<string, Bill> {
  const priced = pricedBy(measured);
  const polls = ((minutes + behaviour.idleMinutesPerRun) * 60) / behaviour.pollInSeconds;
  return {
    'dry run, start': addUp([
      [1, priced('runs/dry-run')],
      [1, priced('runs/start-run')],
    ]),
    'state machine and its steps': addUp([
      [1, executionBill('run')],
      [1, priced('lifecycle/offer-run')],
      [1, priced('lifecycle/await-cvm')],
      [1, priced('lifecycle/record-outcome')],
    ]),
    [`polling every ${behaviour.pollInSeconds} s`]: addUp([
      [polls, priced('cvms/list-commands, none')],
      [1, priced('cvms/list-commands, a run')],
    ]),
    [`heartbeats every ${behaviour.heartbeatInSeconds} s`]: addUp([
      [(minutes * 60) / behaviour.heartbeatInSeconds, priced('cvms/report, a heartbeat')],
    ]),
    'other reports': addUp([
      [1, priced('cvms/report, acceptance')],
      [behaviour.eventsPerRun, priced('cvms/report, an event')],
      [1, priced('cvms/report, the end')],
    ]),
  };
}

/** A stop on top of a run: the request, the execution and its steps. */
export function stopBill(measured: Measured): Bill {
  const priced = pricedBy(measured);
  return addUp([
    [1, priced('runs/stop-run')],
    [1, executionBill('stop')],
    [1, priced('lifecycle/deliver-stop')],
    [1, priced('lifecycle/complete-stop')],
  ]);
}
