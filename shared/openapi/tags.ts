import type { RouteName } from '../endpoints/endpoints.ts';

type TagOf<Name extends string> = Name extends `${infer Tag}/${string}` ? Tag : never;
type Tag = TagOf<RouteName>;

/** What the operations of each tag are about. A tag is the folder of an endpoint. */
const descriptions: Record<Tag, string> = {
  approvals: "The parties' approvals of a manifest.",
  assets: 'Algorithms and datasets, their content, and their links to computations.',
  computations: 'Computations: their name, description, owner and agent configuration.',
  cvms: 'Registered CVMs. For CVMs and their gateways: get commands and send reports.',
  events: 'The journal of a computation, and its latest lifecycle event.',
  keys: 'Public keys that participants upload to computations.',
  runs: 'Runs of computations on CVMs: check, start, watch and stop them, and read their manifests and evidence.',
  service: 'The health of the service, its OpenAPI document, and the public keys that verify evidence.',
  statistics: 'How many computations entered each status on each day.',
  todo: 'Open tasks of the caller: approvals to give, keys and content to upload.',
};

/** The tags of the document, in alphabetical order. */
export const tags = Object.entries(descriptions)
  .map(([name, description]) => ({ name, description }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

export function tagOf({ name }: { name: string }): string {
  return name.split('/')[0] ?? '';
}
