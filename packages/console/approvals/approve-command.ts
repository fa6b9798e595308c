import type { Limits } from './limits.ts';

interface Approved {
  domain: string;
  computation: string;
  digest: string;
  /** The ETag of the computation. It covers the agent configuration, which the digest does not. */
  etag: string | undefined;
  limits: Limits;
}

/** Returns the command that signs and approves exactly what is shown. The user puts in the file of the private key. */
export function approveCommand({ domain, computation, digest, etag, limits: { cvm_ids = [], expires_at } }: Approved): string {
  return [
    `cms --domain ${domain} approve ${computation} --digest ${digest}`,
    ...(etag === undefined ? [] : [`--etag ${etag.replaceAll('"', '')}`]),
    '--sign KEYFILE',
    ...cvm_ids.map((cvm) => `--cvm ${cvm}`),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
  ].join(' ');
}
