import * as v from 'valibot';

/** The notification of S3 that objects were created. */
export const objectCreated = v.object({
  Records: v.array(v.object({ s3: v.object({ object: v.object({ key: v.string() }) }) })),
});

/** Returns the keys of the created objects. A notification encodes them like form data. */
export function createdKeys({ Records }: v.InferOutput<typeof objectCreated>): string[] {
  return Records.map(({ s3 }) => decodeURIComponent(s3.object.key.replaceAll('+', ' ')));
}
