/** The limits of an approval. A limit that the user did not give is left out. */
export interface Limits {
  cvm_ids?: string[];
  expires_at?: string;
}

const dayInMilliseconds = 86_400_000;

/** Returns the moment until which an approval counts, or undefined if it has no end. @param days a whole number, or empty */
export function expiryAfter(days: string, now: number): string | undefined {
  return days === '' ? undefined : new Date(now + Number(days) * dayInMilliseconds).toISOString();
}

/** Returns the limits of an approval, as it is sent and signed. @param cvms identifiers, separated by commas */
export function limitsOf(cvms: string, expires_at: string | undefined): Limits {
  const cvm_ids = cvms
    .split(',')
    .map((cvm) => cvm.trim())
    .filter((cvm) => cvm !== '');
  return {
    ...(cvm_ids.length > 0 && { cvm_ids }),
    ...(expires_at !== undefined && { expires_at }),
  };
}
