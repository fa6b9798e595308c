import type { Schemas } from 'computation-management-client';

/** Reads the details of an event, as far as they are JSON. */
export function detailsOf({ details }: Pick<Schemas['Event'], 'details'>): Record<string, unknown> & { reason?: string } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(details, 'base64').toString());
    if (typeof parsed !== 'object' || parsed === null) return {};
    const { reason, ...others } = parsed as Record<string, unknown>;
    return typeof reason === 'string' && reason !== '' ? { ...others, reason } : others;
  } catch {
    return {};
  }
}
