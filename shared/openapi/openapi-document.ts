import { routes, type RouteName } from '../endpoints/endpoints.ts';
import { Components } from './json-schema.ts';
import { sharedHeaders } from './headers.ts';
import { operation } from './operation.ts';
import { gatewayMessageSchema, problemSchema } from './problems.ts';

type OpenApi = Record<string, unknown> & { openapi: '3.1.0'; paths: Record<string, Record<string, unknown>> };

/**
 * Makes the OpenAPI document from the list of endpoints, with the schemas that the handlers parse with.
 * @param version the service's version, semver
 */
export function openapiDocument(version: string): OpenApi {
  const components = new Components();
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const { method } = route;
    const path = route.path.replace('+}', '}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route, components) };
  }
  components.add(problemSchema, 'output');
  components.add(gatewayMessageSchema, 'output');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Computation management',
      version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      contact: { name: 'The operator of the stage' },
      description:
        'Manages confidential computations: their participants, algorithms, datasets and keys, their runs on confidential virtual machines (CVMs), and a journal of events. ' +
        'Every resource belongs to a domain. A request may repeat the domain of the path as the query parameter `domainID`. The operations do not list this parameter, because two parameters with the same name break generated clients. ' +
        'Every GET operation also answers HEAD, except deprecated ones and `GET /{domainID}/kbs/v0/resource/{resource}`, with the same status and headers and without a body.',
    },
    servers: [
      {
        url: '/',
        description: 'The stage that serves this document: one machine (local), development, staging or production.',
        'x-internal': false,
      },
    ],
    tags,
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "A JSON Web Token from the stage's OpenID Connect issuer. It is checked as RFC8725 recommends: only RS256, with issuer, audience and expiry.",
        },
      },
      headers: sharedHeaders,
      schemas: components.schemas,
    },
  };
}

type TagOf<Name extends string> = Name extends `${infer Tag}/${string}` ? Tag : never;
type Tag = TagOf<RouteName>;

/**
 * Descriptions of the tags that group endpoints in the OpenAPI document. The tag of an endpoint is the folder of its function.
 */
const descriptions: Record<Tag, string> = {
  approvals: "The parties' approvals of a manifest.",
  assets: 'Algorithms and datasets, their content, and their links to computations.',
  attestation: 'The attestation evidence of the CVM of a run, and what the service found in it.',
  computations: 'Computations: their name, description, owner and agent configuration.',
  cvms: 'Registered CVMs. For CVMs and their gateways: get commands and send reports.',
  events: 'The journal of a computation, and its latest lifecycle event.',
  evidence: 'The signed statement about a run.',
  find: 'Search by names, identifiers and checksums.',
  history: "The stage's append-only log of the starts, ends and reviewed results of runs, for everyone to read.",
  keys: 'Public keys that participants upload to computations.',
  logs: 'The logs that agents write during runs.',
  notifications: 'Mail about what begins to wait for users.',
  releases: 'Keys of assets that leave: the key broker protocol of CVMs (KBS 0.4.0), and the brokers of parties.',
  results: 'Results of runs under review: hand them in, release or withhold them, and get the signed statement about that.',
  runs: 'Runs of computations on CVMs: check, start, watch and stop them, and read their manifests.',
  service: 'The health of the service, its OpenAPI document, and the public keys that verify evidence.',
  statistics: 'How often computations entered each status on each day.',
  todo: 'Open tasks of the caller: approvals to give, keys and content to upload.',
};

/** The tags of the OpenAPI document, in alphabetical order. */
const tags = Object.entries(descriptions)
  .map(([name, description]) => ({ name, description }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
