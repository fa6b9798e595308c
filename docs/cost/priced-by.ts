import { billOf, titleOf } from './call-bill.ts';
import type { Measured } from './measured.ts';
import type { Bill } from './prices.ts';

/** Bills of functions by their titles. @throws TypeError for one that was not measured */
export function pricedBy(measured: Measured): (title: string) => Bill {
  const bills = new Map(measured.functions.map((each) => [titleOf(each), billOf(each, measured.stage)]));
  return (title) => {
    const bill = bills.get(title);
    if (!bill) throw new TypeError(`${title} was not measured.`);
    return bill;
  };
}
