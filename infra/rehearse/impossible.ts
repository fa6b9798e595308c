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
  {
    title: new RegExp(
      [
        'what a CVM reports (is kept as given|says in its details when|counts once where|may be of two runs)',
        'a run (is ended by the first outcome|goes on after words of the agent)',
      ].join('|'),
    ),
    reason: 'The run ends before its offer, whose step throws RunIsOver; the emulator goes on waiting instead of catching it.',
  },
];
