import { newKey } from 'computation-management-client';

/**
 * Returns a function that gives each body of a form an `Idempotency-Key`: the same one while the body stays the same. If no answer
 * came, sending the form again then creates nothing twice.
 */
export function keysForBodies(): (body: unknown) => string {
  let latest: { text: string; key: string } | undefined;
  return (body) => {
    const text = JSON.stringify(body);
    if (latest?.text !== text) latest = { text, key: newKey() };
    return latest.key;
  };
}
