import type { Measured } from './measured.ts';
import { minutesPerMonth } from './month.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';

/** The longest wait. */
export const heldInSeconds = 20;

/** An hour of a client that watches a computation in which nothing happens: it always has a request that is held. */
export function watchedHourBill(measured: Measured): Bill {
  return addUp([[3600 / heldInSeconds, pricedBy(measured)('events/list-events, held for 20 s')]]);
}

/** An hour of a client that asks for the status every 5 seconds instead. */
export function statusPollingBill(measured: Measured): Bill {
  return addUp([[3600 / 5, pricedBy(measured)('events/get-status')]]);
}

/** A month of a CVM without a run that always has a request for commands that is held. */
export function waitingCvmBill(measured: Measured): Bill {
  return addUp([[(minutesPerMonth * 60) / heldInSeconds, pricedBy(measured)('cvms/list-commands, held for 20 s')]]);
}
