import { describe, expect, it } from 'vitest';
import { markSegment, noMarks } from '../../../shared/events/stored-journal.ts';

const place = (number: number) => ({ at: '2025-07-17T08:00:00.000Z', number });

describe('markSegment', () => {
  it('marks the segment that completes a stretch', () => {
    const almost = markSegment(noMarks, place(512), 500 * 1024);
    expect(almost.ends).toEqual([]);
    const full = markSegment(almost, place(1024), 300 * 1024);
    expect(full).toMatchObject({ ends: [place(1024)], bytesSinceLast: 0 });
  });

  it('keeps at most 15 marks, in order, with stretches of about the same size', () => {
    let marks = noMarks;
    for (let segment = 1; segment <= 2000; segment++) {
      marks = markSegment(marks, place(segment), 30 * 1024);
      expect(marks.ends.length).toBeLessThan(16);
    }
    const numbers = marks.ends.map((end) => end.number);
    const lengths = numbers.map((number, index) => number - (numbers[index - 1] ?? 0));
    expect(numbers.length).toBeGreaterThanOrEqual(8);
    expect(Math.max(...lengths) / Math.min(...lengths)).toBeLessThan(1.1);
  });
});
