/** @throws Error with the message if the condition is false */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
