import type { Limits } from './limits.ts';

/** Returns the command that signs and gives an approval. The user puts in the file of the private key. */
export function approveCommand(computation: string, { cvm_ids = [], expires_at }: Limits): string {
  return [
    `cms approve ${computation} --sign KEYFILE`,
    ...cvm_ids.map((cvm) => `--cvm ${cvm}`),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
  ].join(' ');
}
