/** The same on AWS and on one machine. */
export interface Cors {
  methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** Request headers, in lower case. */
  allowHeaders: readonly string[];
  /** In lower case. */
  exposeHeaders: readonly string[];
  maxAgeInSeconds: number;
}

const hour = 3600;

/** Htmx adds them to its requests. API Gateway has no pattern for them. */
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

/** For presigned uploads and downloads. */
export const contentCors: Cors = {
  methods: ['GET', 'PUT'],
  allowHeaders: ['content-type', 'if-none-match'],
  exposeHeaders: ['etag', 'content-disposition'],
  maxAgeInSeconds: hour,
};
