type StringMap = Record<string, string | undefined>;

/** The parts of a request as API Gateway passed them on, before anything was parsed. */
export interface Received {
  method: string;
  /** By lower-case name. */
  headers: StringMap;
  path: StringMap;
  query: StringMap;
  body: string | undefined;
  isBase64Encoded: boolean;
}

/** The bytes of the body as the caller sent them; none for a request without a body. */
export function bytesOf({ body = '', isBase64Encoded }: Received): Buffer {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
}
