import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';

interface Question {
  /** The operation of a service of AWS with JSON 1.1. Default: the request is a GET without an operation. */
  target?: string;
  body?: object;
  path?: string;
  query?: Record<string, string>;
  /** The region of the service that is asked. Default: the region of the stage. */
  region?: string;
}

/**
 * Sends a request to a service of AWS with the caller's credentials, and returns the answer. An answer in XML is in the field
 * `text`. @throws Error with AWS's error code as its name
 */
export type Ask = (service: string, question: Question) => Promise<Record<string, unknown>>;

/** The services of AWS with one address for all Regions. */
const isGlobal = new Set(['budgets', 'cloudfront']);

const timeInMilliseconds = 15_000;

export function askIn(stageRegion: string): Ask {
  const { config } = new CloudFormationClient({ region: stageRegion }); // for the credentials that every command finds
  return async (service, { target, body = {}, path = '/', query = {}, region = stageRegion }) => {
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const place = isGlobal.has(service) ? service : `${service}.${region}`;
    const url = new URL(path, process.env['AWS_ENDPOINT_URL'] ?? `https://${place}.${suffix}`);
    url.search = new URLSearchParams(query).toString();
    const { protocol, hostname, host, pathname } = url;
    const sent = target
      ? {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
        }
      : { method: 'GET', headers: { host, accept: 'application/json' } };
    const signer = new SignatureV4({ service, region, credentials: config.credentials, sha256: Sha256 });
    const { headers } = await signer.sign(new HttpRequest({ protocol, hostname, path: pathname, query, ...sent }));
    const answer = await fetch(url, { ...sent, headers, signal: AbortSignal.timeout(timeInMilliseconds) });
    const text = await answer.text();
    const given = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text };
    if (answer.ok) return given;
    const { __type, message, Message } = given as Record<string, string | undefined>;
    const type = __type ?? answer.headers.get('x-amzn-errortype') ?? String(answer.status);
    const name = type.replace(/^.*#/, '').replace(/:.*$/, '');
    throw Object.assign(new Error(message ?? Message ?? text.slice(0, 200)), { name });
  };
}
