import type { HttpApiOptions } from './http-api.ts';

type Done = Parameters<NonNullable<HttpApiOptions['onResponse']>>[0];

/** Formats a line about an answered request. Empty for pages and for successful requests of CVMs. */
export function requestLine({ method, url, statusCode, milliseconds, route }: Done): string {
  if (route === undefined || (route.startsWith('cvms/') && statusCode < 400)) return '';
  return `  ${statusCode}  ${method.padEnd(6)} ${url}  ${milliseconds.toFixed(0)} ms\n`;
}
