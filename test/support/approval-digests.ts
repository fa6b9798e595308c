/** Returns what an approval names, from the headers of a manifest. */
export function digestsIn(headers: Headers): { digest: string; configuration_digest: string } {
  const [digest, configuration_digest] = [headers.get('manifest-digest'), headers.get('configuration-digest')];
  if (digest === null || configuration_digest === null) throw new TypeError('The answer lacks a digest.');
  return { digest, configuration_digest };
}
