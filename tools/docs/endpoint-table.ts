import { readFileSync, writeFileSync } from 'node:fs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';

const page = new URL('../../docs/api.md', import.meta.url);
const between = /(<!-- endpoints:begin -->\n)[\s\S]*(<!-- endpoints:end -->)/;

/**
 * Returns the text of docs/api.md with the list of endpoints that the route table contains. @param text the present text of the
 * file
 */
export function withEndpointTable(text: string): string {
  return text.replace(between, `$1\n${routes.map(lineOf).join('\n')}\n\n$2`);
}

function lineOf(route: Route): string {
  const number = route.endpoint === undefined ? '' : ` (${route.endpoint})`;
  return `- \`${route.method} ${route.path}\`${number}: ${route.summary}; ${accessOf(route)}`;
}

function accessOf({ access }: Route): string {
  if (!access) return 'no token';
  return [...access.anyOf.map((action) => `\`${action}\``), ...(access.or ?? [])].join(' or ');
}

if (import.meta.main) writeFileSync(page, withEndpointTable(readFileSync(page, 'utf8')));
