import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { gather, shownEvents } from '../../../../packages/console/runs/watched-run.ts';

describe('the events of a run', () => {
  it('are passed on together, at the latest 100 ms after the first of them', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const passed: number[][] = [];
    const { add } = gather<number>((entries) => passed.push(entries));
    for (let event = 0; event < 1_000; event++) add(event);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(passed.map(({ length }) => length)).toEqual([1_000]);
    add(1_000);
    vi.advanceTimersByTime(100);
    expect(passed[1]).toEqual([1_000]);
  });

  it('are passed on at once when the screen must show them, and no event twice', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const passed: number[][] = [];
    const { add, flush } = gather<number>((entries) => passed.push(entries));
    add(1);
    flush();
    flush();
    vi.advanceTimersByTime(100);
    expect(passed).toEqual([[1]]);
  });

  it('are all shown up to 200, then the latest 200, unless the user asks for all', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => index);
    expect(shownEvents(events.slice(0, 200), false)).toMatchObject({ shown: { length: 200 }, hidden: 0 });
    expect(shownEvents(events, false)).toEqual({ shown: events.slice(800), hidden: 800 });
    expect(shownEvents(events, true)).toEqual({ shown: events, hidden: 0 });
  });
});
