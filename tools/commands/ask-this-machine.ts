import { typed, UsageError } from '../../shared/command-line/arguments.ts';

/** Returns the URL of the service at a port of this machine. */
export function serviceHere(port: number): string {
  return `http://127.0.0.1:${port}`;
}

export function noService(service: string): Error {
  const advice = service.startsWith('http://127.0.0.1:') ? ` Start it with \`${typed('start')}\`, or set PORT to its port.` : '';
  return new Error(`No service answers at ${service}.${advice}`);
}

/**
 * Asks the service of this machine at `/local/...`, which is no part of the API.
 * @throws UsageError if it refuses the request; Error if it fails, does not answer, or is something else
 */
export async function askThisMachine<Answer>(service: string, path: `/local/${string}`, body: unknown): Promise<Answer> {
  const response = await fetch(service + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw noService(service);
  });
  const text = await response.text();
  const answer = parseAnswer(response.ok ? text : text || '{}', service + path);
  if (response.ok) return answer as Answer;
  const { message, detail } = answer as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`Expected an answer in JSON from the service of this machine at ${url}. Another program may have its port.`);
  }
}
