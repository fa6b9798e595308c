import type { RouteName } from '../endpoints/endpoints.ts';

type TagOf<Name extends string> = Name extends `${infer Tag}/${string}` ? Tag : never;
type Tag = TagOf<RouteName>;

/** What the operations of each tag are about. A tag is the folder of an endpoint. */
const descriptions: Record<Tag, string> = {
  computations: 'Computations: their name, description, owner and agent configuration.',
  runs: 'Runs of computations on CVMs: check, start, watch and stop them, and read their manifests.',
  statistics: 'How many computations entered each status on each day.',
  keys: 'Public keys that participants upload to computations.',
  assets: 'Algorithms and datasets, their content, and their links to computations.',
  events: 'The journal of a computation, and its latest lifecycle event.',
  cvms: 'For CVMs and their gateways: get commands and send reports.',
  service: 'The health of the service and its OpenAPI document.',
};

/** The tags of the document, in the order in which the endpoints first use them. */
export const tags = Object.entries(descriptions).map(([name, description]) => ({ name, description }));

export function tagOf({ name }: { name: string }): string {
  return name.split('/')[0] ?? '';
}
