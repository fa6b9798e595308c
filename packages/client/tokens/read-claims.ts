/**
 * Reads the claims of a JSON Web Token, without checking its signature: only the service decides by them.
 * @returns undefined if it is not a JSON Web Token
 */
export function readClaims(token: string): Record<string, unknown> | undefined {
  const [, payload = ''] = token.trim().split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}
