import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { htmlPage } from 'computation-management-console/html-page';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { apiGatewayMessage, jsonAnswer, send, sendFile } from '../http-api/http-messages.ts';
import { ownOrigin } from '../machine/listen.ts';
import { issuerPath } from '../sign-in/sign-in-pages.ts';
import type { ConsoleFiles } from './console-build.ts';

export interface ConsolePagesOptions {
  files: () => ConsoleFiles;
  clientId: string;
  membershipClaim: string;
  /** The identifier of a CVM that takes runs without being registered. Undefined if there is none. */
  exampleCvm: string | undefined;
  /** The origin of object storage, to which pages of the console send presigned requests. */
  storage: string;
}

const base = '/console/';
const help = '/help/';

/** The `cache-control` header of the built files under assets/, whose names contain a hash of their content. */
const immutable = 'public, max-age=31536000, immutable';
const alwaysChecked = 'no-cache';

/**
 * Returns a handler that serves the web console at /console/, redirects from / to it, and serves the help at /help/. Other paths
 * below /console/ are screens of the console.
 */
export function consolePages({ files, storage, ...names }: ConsolePagesOptions) {
  const filesIn = listing();
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = '', query] = (request.url ?? '').split('?');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && (path === '/' || path === '/console')) {
      response.writeHead(302, { location: query === undefined ? base : `${base}?${query}` }).end();
      return true;
    }
    // Other requests call the API, whose paths start with a domain: it may be named console or help.
    if (!(path.startsWith(base) || path.startsWith(help)) || !isRead || request.headers.authorization !== undefined) return false;
    response.setHeaders(pageHeaders({ connectTo: [storage] }));
    if (path === `${base}config.json`) {
      const api = ownOrigin(request) ?? '';
      send(response, jsonAnswer(200, { api, issuer: `${api}${issuerPath}`, scopes: 'openid', ...names }));
      return true;
    }
    await sendPage(response, path, files(), filesIn);
    return true;
  };
}

async function sendPage(
  response: ServerResponse,
  path: string,
  built: ConsoleFiles,
  filesIn: (folder: string) => ReadonlySet<string>,
): Promise<void> {
  if (path === `${base}waiting.css`) {
    await sendFile(response, join(import.meta.dirname, '../../packages/console/help/help.css'), alwaysChecked);
    return;
  }
  const isHelp = path.startsWith(help);
  const name = isHelp ? `help/${path.slice(help.length) || 'index.html'}` : path.slice(base.length);
  if (built.state === 'ready') {
    const isFile = filesIn(built.folder).has(name);
    if (!isFile && (isHelp || name.startsWith('assets/'))) send(response, apiGatewayMessage(404, 'Not Found'));
    else if (isFile && name.startsWith('assets/')) await sendFile(response, join(built.folder, name), immutable);
    else await sendFile(response, join(built.folder, isFile ? name : 'index.html'), alwaysChecked);
    return;
  }
  const isBuilding = built.state === 'building';
  send(response, {
    statusCode: isBuilding ? 503 : 500,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...(isBuilding ? { 'retry-after': '2', refresh: '2' } : {}),
    },
    body: Buffer.from(waitingPages[built.state]),
  });
}

/**
 * Returns a function that lists the names of the files in a folder and its subfolders, and that reads each folder only once.
 * Names without a dot count as folders.
 */
function listing(): (folder: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>();
  return (folder) => {
    const names = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    const listed = known.get(folder) ?? new Set(names().map((name) => name.replaceAll(sep, '/')));
    known.set(folder, listed);
    return listed;
  };
}

const apiReference = '<a href="/docs">API reference</a>';

/** The HTML pages that are shown in place of the console while it is being built, or if its build has failed. */
const waitingPages = {
  building: waitingPage(
    'The console is being built',
    `<p role="status">
        It takes a few seconds, and only after its sources have changed. This page shows the console as soon as it is there. The
        API answers already: ${apiReference}.
      </p>`,
  ),
  failed: waitingPage(
    'The console could not be built',
    `<p>The terminal of <code>npm start</code> says why. The API works without it: ${apiReference}.</p>`,
  ),
};

function waitingPage(title: string, content: string): string {
  const body = `    <main>\n      <h1>${title}</h1>\n      ${content}\n    </main>`;
  return htmlPage({ title, styles: '/console/waiting.css', body });
}
