import * as v from 'valibot';

export const segmentMarksSchema = v.object({
  /** Last event of the segments that end a stretch, oldest first. */
  ends: v.array(v.object({ at: v.string(), number: v.number() })),
  strideInBytes: v.number(),
  bytesSinceLast: v.number(),
});

/** Where the index segments can be cut into stretches of about equal size, to be read side by side. */
export type SegmentMarks = v.InferOutput<typeof segmentMarksSchema>;

/** A stretch of this size stays within the megabyte that one query reads. */
const firstStrideInBytes = 768 * 1024;
const mostMarks = 16;

export const noMarks: SegmentMarks = { ends: [], strideInBytes: firstStrideInBytes, bytesSinceLast: 0 };

/** The marks after one more segment. Where they get too many, every second one goes and stretches double. */
export function markSegment(marks: SegmentMarks, end: { at: string; number: number }, bytes: number): SegmentMarks {
  const bytesSinceLast = marks.bytesSinceLast + bytes;
  if (bytesSinceLast < marks.strideInBytes) return { ...marks, bytesSinceLast };
  const ends = [...marks.ends, end];
  if (ends.length < mostMarks) return { ...marks, ends, bytesSinceLast: 0 };
  return { ends: ends.filter((_end, index) => index % 2 === 1), strideInBytes: marks.strideInBytes * 2, bytesSinceLast: 0 };
}
