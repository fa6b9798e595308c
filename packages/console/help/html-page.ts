interface HtmlPage {
  title: string;
  /** The address of the page's style sheet. */
  styles: string;
  head?: string;
  body: string;
}

/**
 * Returns an HTML page that is not part of the console's application: a page of the help, or one in place of a console that is not built.
 */
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

/** The documents of docs/ from which the console's build makes the pages at /help/. */
export const helpPages = [
  { name: 'participant', title: 'For participants' },
  { name: 'machines', title: 'Decide on which machines' },
  { name: 'console', title: 'The web console' },
  { name: 'evidence', title: 'Evidence' },
  { name: 'glossary', title: 'Glossary' },
] as const;
