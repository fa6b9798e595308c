import { readFileSync, writeFileSync } from 'node:fs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';

const page = new URL('../../docs/api.md', import.meta.url);
const between = /(<!-- endpoints:begin -->\n)[\s\S]*(<!-- endpoints:end -->)/;

/** docs/api.md with the table of endpoints as the route table has it. */
export function withEndpointTable(text: string): string {
  return text.replace(between, `$1\n${endpointTable()}\n\n$2`);
}

function endpointTable(): string {
  const cells = routes.map((route: Route) => [
    String(route.endpoint ?? ''),
    `\`${route.method} ${route.path}\``,
    route.summary,
    accessOf(route),
  ]);
  const table = [['#', 'endpoint', 'description', 'requires'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  return [table[0] ?? [], rule, ...cells].map(line).join('\n');
}

function accessOf({ access }: Route): string {
  if (!access) return 'no token';
  return [...access.anyOf.map((action) => `\`${action}\``), ...(access.or ?? [])].join(' or ');
}

if (import.meta.main) writeFileSync(page, withEndpointTable(readFileSync(page, 'utf8')));
