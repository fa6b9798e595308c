/** The paths of the console's screens under /console, by the name of the screen. A path parameter stands for one segment of the path. */
const paths = {
  home: '/',
  verify: '/verify',
  todo: '/domains/:domain/todo',
  computations: '/domains/:domain/computations',
  'new-computation': '/domains/:domain/computations/new',
  computation: '/domains/:domain/computations/:id',
  approve: '/domains/:domain/computations/:id/approve',
  'edit-computation': '/domains/:domain/computations/:id/edit',
  run: '/domains/:domain/computations/:id/runs/:run',
  'verify-run': '/domains/:domain/computations/:id/runs/:run/verify',
  runs: '/domains/:domain/runs',
  assets: '/domains/:domain/assets',
  'new-asset': '/domains/:domain/assets/new',
  asset: '/domains/:domain/assets/:id',
  cvms: '/domains/:domain/cvms',
  cvm: '/domains/:domain/cvms/:cvm',
  statistics: '/domains/:domain/statistics',
} as const;

type Paths = typeof paths;
type Screen = keyof Paths;

type Parameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameters<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A screen of the console with the parameters of its path. */
export type Place = { [S in Screen]: { screen: S } & Record<Parameters<Paths[S]>, string> }[Screen];

const base = '/console';

/** Returns the address of a screen with its parameters. Parameters of the query that are undefined or empty are left out. */
export function addressOf(place: Place, query: Record<string, string | number | undefined> = {}): string {
  const values: Record<string, string> = place;
  const path = paths[place.screen].replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return `${base}${path}${search && '?'}${search}`;
}

/** Returns the screen of an address's path with its parameters, or undefined if the console has no such screen. */
export function placeOf(pathname: string): Place | undefined {
  for (const [screen, path] of Object.entries(paths)) {
    const pattern = `${base}${path}`.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replace(/\/$/, '');
    const found = new RegExp(`^${pattern}/?$`).exec(pathname);
    if (!found) continue;
    const values = Object.entries(found.groups ?? {});
    try {
      return { screen, ...Object.fromEntries(values.map(([name, value]) => [name, decodeURIComponent(value)])) } as Place;
    } catch {
      return undefined; // a malformed address
    }
  }
  return undefined;
}

/** Returns the tab of a screen that an address names, or the first tab. */
export function tabOf(query: URLSearchParams, tabs: readonly string[]): string {
  return tabs.find((tab) => tab === query.get('tab')) ?? tabs[0] ?? '';
}

/** Returns the query parameter of an address that leads to a tab of a screen. The first tab needs none. */
export function tabQuery(tab: string, tabs: readonly string[]): { tab: string | undefined } {
  return { tab: tab === tabs[0] ? undefined : tab };
}

/** Returns the list to which the screen of a path belongs, where another of its kind can be found. Undefined if there is none. */
export function listAbove(pathname: string): { text: string; href: string } | undefined {
  const place = placeOf(pathname);
  if (!place || !('domain' in place)) return undefined;
  const { domain } = place;
  if ('run' in place) return { text: 'Open the list of runs', href: addressOf({ screen: 'runs', domain }) };
  if (place.screen === 'asset') return { text: 'Open the list of assets', href: addressOf({ screen: 'assets', domain }) };
  return { text: 'Open the list of computations', href: addressOf({ screen: 'computations', domain }) };
}

/** Returns the breadcrumbs above the screen of an asset. */
export function aboveAsset(domain: string) {
  return [{ text: 'Assets', href: addressOf({ screen: 'assets', domain }) }];
}

/** Returns the breadcrumbs above the screen of a computation. */
export function aboveComputation(domain: string) {
  return [{ text: 'Computations', href: addressOf({ screen: 'computations', domain }) }];
}

/** Returns the breadcrumbs above a screen about a part of a computation, such as a run. */
export function aboveInComputation(domain: string, id: string, name = 'Computation') {
  return [...aboveComputation(domain), { text: name, href: addressOf({ screen: 'computation', domain, id }) }];
}

/** The numbers of rows on a page of a list that the console offers. The API allows up to 100. */
export const pageSizes = [10, 25, 50, 100] as const;
const usualPageSize = 25;

export interface PageQuery {
  /** The number of the page in the list, from 1. */
  page: number;
  limit: number;
  offset: number;
}

/** Reads the number and the size of a list's page from an address. Values that are not valid become the first page, or the usual size. */
export function pageOf(query: URLSearchParams): PageQuery {
  const limit = pageSizes.find((size) => String(size) === query.get('limit')) ?? usualPageSize;
  const text = query.get('page') ?? '1';
  const page = /^[1-9]\d{0,11}$/.test(text) ? Number(text) : 1;
  return { page, limit, offset: (page - 1) * limit };
}

/** Returns the number of pages of a list: at least one. */
export function pageCount(total: number, limit: number): number {
  return Math.max(1, Math.ceil(total / limit));
}

/** Returns the query of an address with changed parameters. A changed filter or page size leads to the first page. */
export function changedQuery(query: URLSearchParams, changes: Record<string, string | number | undefined>): string {
  const changed = new URLSearchParams(query);
  if (!('page' in changes)) changed.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '' || (name === 'page' && value === 1)) changed.delete(name);
    else changed.set(name, String(value));
  }
  const text = changed.toString();
  return text === '' ? '' : `?${text}`;
}
