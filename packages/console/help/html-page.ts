import type { Place } from '../routing/places.ts';

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
  { name: 'command-line', title: 'The command line' },
  { name: 'keys', title: 'Keep your key at home' },
  { name: 'machines', title: 'Decide on which machines' },
  { name: 'console', title: 'The web console' },
  { name: 'evidence', title: 'Evidence' },
  { name: 'trust', title: 'Why you need not trust the operator' },
  { name: 'cvm', title: 'For owners of CVMs' },
  { name: 'glossary', title: 'Glossary' },
] as const;

/** The sections of the help about a screen of the console. */
export const helpOf: Record<Place['screen'], `${(typeof helpPages)[number]['name']}.html${string}`> = {
  home: 'participant.html',
  todo: 'participant.html#what-you-do',
  computations: 'participant.html#item-create-a-computation',
  'new-computation': 'participant.html#item-create-a-computation',
  computation: 'participant.html#item-check-what-is-missing',
  approve: 'console.html#changes-and-approvals',
  'edit-computation': 'machines.html',
  run: 'participant.html#item-start-a-run-and-watch-it',
  'verify-run': 'evidence.html#what-it-shows',
  verify: 'evidence.html#check-it',
  runs: 'participant.html#item-start-a-run-and-watch-it',
  assets: 'participant.html#item-upload-a-file-and-link-it',
  'new-asset': 'console.html#uploads',
  asset: 'participant.html#who-sees-what',
  cvms: 'cvm.html',
  cvm: 'cvm.html#which-machine-which-verdict',
  statistics: 'console.html#what-it-shows',
};
