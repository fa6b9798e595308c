import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The environment variables of the process. The file that reads them fetches the gateway's bundle from S3, checks its files, and
 * runs the first one. It is part of the task definition, so it imports Node's modules alone and signs its requests itself.
 */
const variables = process.env;
const baseUrl = String(variables['BUNDLE_URL']);
const files = JSON.parse(String(variables['BUNDLE_FILES'])) as { name: string; key: string; sha256: string }[];
const region = String(variables['AWS_REGION']);

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

async function fetched(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) });
  if (!response.ok) throw new Error(`${new URL(url).pathname} was answered ${response.status}: ${await response.text()}`);
  return response;
}

/** Returns the headers of a GET request to S3 without a query, signed by Signature Version 4. */
function signed(url: URL, { AccessKeyId, SecretAccessKey, Token }: Record<string, string>): Record<string, string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    host: url.host,
    'x-amz-content-sha256': sha256(''),
    'x-amz-date': time,
    ...(Token ? { 'x-amz-security-token': Token } : {}),
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ['GET', url.pathname, '', lines.join(''), names, headers['x-amz-content-sha256']].join('\n');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${SecretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request)].join('\n')).toString('hex');
  const credential = `${AccessKeyId}/${scope.join('/')}`;
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

const place =
  variables['AWS_CONTAINER_CREDENTIALS_FULL_URI'] ?? `http://169.254.170.2${variables['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']}`;
const credentials = (await (await fetched(place)).json()) as Record<string, string>;
const directory = mkdtempSync(join(tmpdir(), 'gateway-'));
for (const { name, key, sha256: expected } of files) {
  const url = new URL(`${baseUrl}/${key}`);
  const content = new Uint8Array(await (await fetched(url.href, signed(url, credentials))).arrayBuffer());
  if (sha256(content) !== expected) throw new Error(`${name} is not the file of this deployment.`);
  writeFileSync(join(directory, name), content);
}
await import(pathToFileURL(join(directory, String(files[0]?.name))).href);
