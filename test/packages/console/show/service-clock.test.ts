import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { learnServiceTime, serviceNow } from '../../../../packages/console/show/time.tsx';

const now = Date.parse('2026-11-22T12:00:00Z');
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

const learn = (date?: string) => learnServiceTime({ headers: new Headers(date === undefined ? {} : { date }) });

it("the service's clock is that of its latest answer that says another time", () => {
  learn('Sun, 22 Nov 2026 11:50:00 GMT');
  expect(serviceNow()).toBe(now - 600_000);
  learn('Sun, 22 Nov 2026 11:49:58 GMT'); // has taken two seconds
  expect(serviceNow()).toBe(now - 600_000);
  learn('Sun, 22 Nov 2026 13:00:00 GMT');
  expect(serviceNow()).toBe(now + 3_600_000);
  learn('Sun, 22 Nov 2026 12:00:00 GMT');
  expect(serviceNow()).toBe(now);
});

it("the service's clock is not changed by an answer whose time cannot be read", () => {
  learn();
  learn('soon');
  expect(serviceNow()).toBe(now);
});
