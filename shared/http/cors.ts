/** The settings of an HTTP interface for requests of web pages from other origins (CORS), the same on AWS and on one machine. */
export interface Cors {
  methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** The request headers that web pages may send, in lower case. */
  allowHeaders: readonly string[];
  /** The response headers that web pages may read, in lower case. */
  exposeHeaders: readonly string[];
  maxAgeInSeconds: number;
}

const hour = 3600;

/**
 * The request headers that the library Htmx adds, which web pages may send to the API. Each is listed because API Gateway takes
 * no pattern.
 */
const htmx = [
  'hx-boosted',
  'hx-current-url',
  'hx-history-restore-request',
  'hx-prompt',
  'hx-request',
  'hx-target',
  'hx-trigger',
  'hx-trigger-name',
];

/** The settings of the API for requests of web pages from other origins (CORS). */
export const apiCors: Cors = {
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', ...htmx],
  exposeHeaders: [
    'etag',
    'x-request-id',
    'location',
    'hx-location',
    'retry-after',
    'ratelimit',
    'ratelimit-policy',
    'idempotent-replayed',
    'manifest-digest',
    'configuration-digest',
    'apigw-requestid',
    'date', // the console compares timestamps with the service's clock
  ],
  maxAgeInSeconds: hour,
};

/** The settings of the storage for presigned uploads and downloads of web pages (CORS). */
export const contentCors: Cors = {
  methods: ['GET', 'PUT'],
  allowHeaders: ['content-type', 'if-none-match'],
  exposeHeaders: ['etag', 'content-disposition'],
  maxAgeInSeconds: hour,
};
