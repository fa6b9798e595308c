/** Returns an error that says what failed, with the error as its cause. @param what such as `run d1/<run id>` */
export function failureOf(what: string, error: unknown): Error {
  return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
