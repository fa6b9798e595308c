const apiReference = '<a href="/docs">API reference</a>';

/** The pages that are shown while there is no console. */
export const waitingPages = {
  building: page({
    title: 'The console is being built',
    content: `<p role="status">
        It takes a few seconds, and only after its sources have changed. This page shows the console as soon as it is there. The
        API answers already: ${apiReference}.
      </p>
      <noscript>The console needs JavaScript.</noscript>`,
    script: '<script type="module" src="/console/waiting.js"></script>',
  }),
  failed: page({
    title: 'The console could not be built',
    content: `<p>The terminal of <code>npm start</code> says why. The API works without it: ${apiReference}.</p>`,
    script: '',
  }),
};

function page({ title, content, script }: { title: string; content: string; script: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="stylesheet" href="/console/waiting.css" />
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      ${content}
    </main>
    ${script}
  </body>
</html>
`;
}
