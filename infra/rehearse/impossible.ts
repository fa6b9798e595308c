/** Cases of the end-to-end suite that the emulator cannot pass, by their full titles, and what was seen instead. */
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
