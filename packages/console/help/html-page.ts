interface HtmlPage {
  title: string;
  /** The address of its styles. */
  styles: string;
  head?: string;
  body: string;
}

/** A page beside the console: of the help, or in place of a console that is not there. */
export function htmlPage({ title, styles, head = '', body }: HtmlPage): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="stylesheet" href="${styles}" />
    ${head}
  </head>
  <body>
${body}
  </body>
</html>
`;
}

/** The documents of docs/ that the console's build makes pages of, at /help/. */
export const helpPages = [
  { name: 'participant', title: 'For participants' },
  { name: 'console', title: 'The web console' },
  { name: 'evidence', title: 'Evidence' },
  { name: 'glossary', title: 'Glossary' },
] as const;
