import { billOf, titleOf } from './call-bill.ts';
import type { Measured } from './measured.ts';
import type { Bill } from './prices.ts';

/**
 * Bills of functions by their titles.
 * @param tracedShare of the calls. Default: that of a busy function
 * @throws TypeError for one that was not measured
 */
export function pricedBy(measured: Measured, tracedShare?: number): (title: string) => Bill {
  const bills = new Map(measured.functions.map((each) => [titleOf(each), billOf(each, measured.stage, tracedShare)]));
  return (title) => {
    const bill = bills.get(title);
    if (!bill) throw new TypeError(`${title} was not measured.`);
    return bill;
  };
}
