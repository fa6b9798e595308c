/** Thrown by a step that finds nothing left to wait for; the state machine's Catch knows it by its name. */
export class RunIsOverError extends Error {
  static readonly errorName = 'RunIsOver';
  override readonly name = RunIsOverError.errorName;
}
