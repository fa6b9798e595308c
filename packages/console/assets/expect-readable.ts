/**
 * Checks that a file that was chosen can still be read: browsers refuse it once it was changed, moved or deleted.
 * @throws Error which tells the user what to do
 */
export async function expectReadable(file: Pick<File, 'name' | 'slice'>): Promise<void> {
  const end = file.slice(-1); // is missing in a file that was cut, too
  await end.arrayBuffer().catch((cause: unknown) => {
    throw new Error(`${file.name} has changed or is gone since you chose it. Choose it again.`, { cause });
  });
}
