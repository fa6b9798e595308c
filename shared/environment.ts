import * as v from 'valibot';

const seconds = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,7}$/, 'Expected a whole number of seconds.'), v.transform(Number));

const environmentSchema = v.object({
  STAGE: v.optional(v.string(), 'local'),
  SERVICE_VERSION: v.optional(v.string(), '0.0.0'),
  TABLE_NAME: v.optional(v.string(), ''),
  BUCKET_URL: v.optional(v.string(), ''),
  STATE_MACHINE_ARN: v.optional(v.string(), ''),
  MEMBERSHIP_CLAIM: v.optional(v.string(), 'cognito:groups'),
  METRICS_NAMESPACE: v.optional(v.string(), ''),
  LOG_LEVEL: v.optional(v.string(), 'INFO'),
  ACCEPT_TIMEOUT_SECONDS: v.optional(seconds, '300'),
  STOP_TIMEOUT_SECONDS: v.optional(seconds, '120'),
  AWS_REGION: v.optional(v.string(), ''),
});

export type Environment = v.InferOutput<typeof environmentSchema>;

let known: Environment | undefined;

/** The function's configuration, read once, at the first request. @throws ValiError naming a variable that does not fit. */
export function environment(): Environment {
  known ??= v.parse(environmentSchema, process.env);
  return known;
}
