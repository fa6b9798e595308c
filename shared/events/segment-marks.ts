import * as v from 'valibot';

export const segmentMarksSchema = v.object({
  /** The last event of each stretch, oldest first. */
  ends: v.array(v.object({ at: v.string(), number: v.number() })),
  strideInBytes: v.number(),
  bytesSinceLast: v.number(),
});

/** Divides the index segments into stretches of about the same size, which are read in parallel. */
export type SegmentMarks = v.InferOutput<typeof segmentMarksSchema>;

/** A stretch of this size stays below 1 MB, the most that one query reads. */
const firstStrideInBytes = 768 * 1024;
const maxMarks = 16;

export const noMarks: SegmentMarks = { ends: [], strideInBytes: firstStrideInBytes, bytesSinceLast: 0 };

/** Returns the marks after one more segment. If there are too many, removes every second one and doubles the stride. */
export function markSegment(marks: SegmentMarks, end: { at: string; number: number }, bytes: number): SegmentMarks {
  const bytesSinceLast = marks.bytesSinceLast + bytes;
  if (bytesSinceLast < marks.strideInBytes) return { ...marks, bytesSinceLast };
  const ends = [...marks.ends, end];
  if (ends.length < maxMarks) return { ...marks, ends, bytesSinceLast: 0 };
  return { ends: ends.filter((_end, index) => index % 2 === 1), strideInBytes: marks.strideInBytes * 2, bytesSinceLast: 0 };
}
