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
  {
    title: new RegExp(
      [
        'what a CVM reports (is stored as sent|has the CVM’s own time in its details|counts once when|is accepted for two runs)',
        'a run (ends with the first outcome|stays active after events of the agent)',
      ].join('|'),
    ),
    reason:
      'The run ends before its offer, whose step then fails with RunIsOver. The emulator does not catch it and keeps waiting.',
  },
];
