/** Explains why a file cannot be read. */
export function whyUnreadable(file: string, error: unknown): string {
  const name = JSON.stringify(file);
  if (isMissing(error)) return `There is no file ${name}.`;
  return `Cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Whether there is no file of the name. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
