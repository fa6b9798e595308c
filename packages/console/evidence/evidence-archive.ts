import { type Client, fetchToken, items, type Schemas, tokensOfEvidence } from 'computation-management-client';
import { toBase64 } from 'computation-management-formats/bytes';

type Evidence = Record<'evidence' | 'keys', object> & { events: object[]; tokens: string[] };

/**
 * Returns the one file with which a user checks a run without the service, and the command that checks the run. Attestation tokens are in
 * base64.
 */
export function evidenceArchive(run: string, { evidence, keys, events, tokens }: Evidence) {
  const name = `evidence-${run}.json`;
  const text = `${JSON.stringify({ evidence, keys, events: { events }, tokens }, null, 2)}\n`;
  return { name, text, command: `cms verify ${name}` };
}

/** Reads the archive with the evidence of a run that has ended. @throws ServiceProblem */
export async function readArchive(client: Client, { id, run, signal }: { id: string; run: string; signal?: AbortSignal }) {
  const [evidence, keys, attestation] = await Promise.all([
    client.getEvidence({ id, run, signal }),
    client.jwks({ signal }),
    client.getAttestation({ id, run, signal }),
  ]);
  const events: Schemas['Event'][] = [];
  for await (const event of items(client, 'listEvents', { id, signal })) events.push(event);
  const stated = tokensOfEvidence(evidence, attestation);
  const tokens = await Promise.all(stated.map(async (token) => toBase64(await fetchToken(token, signal))));
  return evidenceArchive(run, { evidence, keys, events, tokens });
}
