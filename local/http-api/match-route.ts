import { answersHead } from '../../shared/http/route.ts';

/** The fields of a route that the HTTP API uses. */
export interface ApiRoute {
  /** The function's name: its path below functions/. */
  name: string;
  method: string;
  /** As API Gateway writes it: `/{domainID}/computations`. */
  path: string;
  /** Absent on a public route, which needs no token. */
  access?: unknown;
  takesKey?: false;
}

export interface Match<Route extends ApiRoute> {
  route: Route;
  pathParameters: Record<string, string>;
}

/**
 * Finds the route of a request. From left to right, a static segment takes precedence over a parameter.
 * @throws URIError if a segment's percent-encoding is malformed
 */
export function matchRoute<Route extends ApiRoute>(
  routes: readonly Route[],
  method: string,
  rawPath: string,
): Match<Route> | undefined {
  const segments = rawPath.split('/').map(decodeURIComponent);
  const answers = (route: Route) => route.method === method || (method === 'HEAD' && answersHead(route, routes));
  const fitting = routes.filter((route) => answers(route) && fits(route.path.split('/'), segments));
  const [route] = fitting.sort((a, b) => (rank(a.path) < rank(b.path) ? -1 : 1));
  if (!route) return undefined;
  const parameters = route.path.split('/').flatMap((pattern, index) => {
    const name = parameterName(pattern);
    return name === undefined ? [] : [[name, segments[index] ?? ''] as const];
  });
  return { route, pathParameters: Object.fromEntries(parameters) };
}

function fits(patterns: string[], segments: string[]): boolean {
  if (patterns.length !== segments.length) return false;
  return patterns.every((pattern, index) =>
    parameterName(pattern) === undefined ? pattern === segments[index] : segments[index] !== '',
  );
}

function parameterName(pattern: string): string | undefined {
  return pattern.startsWith('{') ? pattern.slice(1, -1) : undefined;
}

function rank(path: string): string {
  return path
    .split('/')
    .map((pattern) => (parameterName(pattern) === undefined ? 0 : 1))
    .join('');
}
