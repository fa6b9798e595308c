import { expect, it, vi } from 'vitest';
import { offer, warmUpInSeconds } from '../../../tools/bench/busy/offer.ts';

it('bench:busy counts the failures of the changes that warm up, and measures only the others', async () => {
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const perSecond = 10;
  const kinds = Array.from({ length: perSecond * (warmUpInSeconds + 1) }, () => 'create' as const);
  let made = 0;
  const create = () => (made++ === 0 ? Promise.reject(new Error('It is not there yet.')) : Promise.resolve());
  const begun = performance.now();
  const figures = await offer(perSecond, kinds, { create, start: create, end: create });
  printed.mockRestore();
  expect(made).toBe(kinds.length);
  expect(figures).toMatchObject({ offered: perSecond, failed: 1 });
  // The ten that are measured, in the time after those that warm up.
  const least = (perSecond * 1_000) / (performance.now() - begun - warmUpInSeconds * 1_000);
  expect(figures['a second']).toBeGreaterThanOrEqual(Math.floor(least));
  expect(figures['a second']).toBeLessThanOrEqual(perSecond + 2);
});
