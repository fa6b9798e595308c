/** An error of the canary. Its message names the step and the reason. */
class CanaryError extends Error {
  override readonly name = 'CanaryError';
}

/** Takes the steps of the canary one by one, and keeps the milliseconds of each step. */
export class Steps {
  readonly milliseconds: Record<string, number> = {};

  /**
   * Takes a step of the canary and measures its time.
   * @param what a verb and its object, such as `start a run`
   * @throws CanaryError
   */
  async take<T>(what: string, act: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await act();
    } catch (error) {
      throw new CanaryError(`Could not ${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      this.milliseconds[what] = Math.round(performance.now() - start);
    }
  }
}

/** Throws an error with the given message if a condition is not met. */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
