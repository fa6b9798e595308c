import { UsageError } from './arguments.ts';

export function noService(service: string): Error {
  const advice = service.startsWith('http://127.0.0.1:') ? ' Start it with `npm start`, or set PORT to its port.' : '';
  return new Error(`No service answers at ${service}.${advice}`);
}

/**
 * Asks the service of this machine at `/local/...`, which is no part of the API.
 * @throws UsageError if it refuses the request; Error if it fails or does not answer
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
  if (response.ok) return JSON.parse(text) as Answer;
  const { message, detail } = JSON.parse(text || '{}') as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}
