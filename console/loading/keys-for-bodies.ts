/**
 * Returns a function that gives each body of a form an `Idempotency-Key`: the same one while the body stays the same. If no answer
 * came, sending the form again then creates nothing twice.
 */
export function keysForBodies(): (body: unknown) => string {
  let latest: { text: string; key: string } | undefined;
  return (body) => {
    const text = JSON.stringify(body);
    if (latest?.text !== text) latest = { text, key: randomKey() };
    return latest.key;
  };
}

/** Not `crypto.randomUUID`, which pages without https lack. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
