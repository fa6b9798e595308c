/** A pattern for full titles of end-to-end cases that the emulator cannot pass, and what was seen instead. */
export interface Impossibility {
  title: RegExp;
  reason: string;
}

export const impossible: Impossibility[] = [
  {
    title: / answers 401 without a token$/,
    reason: 'The 401 of its JWT authorizer lacks the header `www-authenticate: Bearer` that API Gateway sends.',
  },
];
