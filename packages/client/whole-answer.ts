/** A body with the headers that came with it. */
export interface WholeAnswer<Body> {
  data: Body;
  etag: string | undefined;
  /** The digest of the manifest that the answer is about. */
  digest: string | undefined;
}

/** Reads an answer that must have a body. Only an answer to `ifNoneMatch` may lack it. @throws TypeError if it does */
export function wholeAnswer<Body>({ data, response }: { data: Body | undefined; response: Response }): WholeAnswer<Body> {
  if (data === undefined) throw new TypeError(`The answer of status ${response.status} has no body.`);
  const { headers } = response;
  return { data, etag: headers.get('etag') ?? undefined, digest: headers.get('manifest-digest') ?? undefined };
}
