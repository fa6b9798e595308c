/** The documents of docs/ that the console's build makes pages of, at /help/. */
export const helpPages = [
  { name: 'participant', title: 'For participants' },
  { name: 'console', title: 'The web console' },
  { name: 'evidence', title: 'Evidence' },
  { name: 'glossary', title: 'Glossary' },
] as const;
