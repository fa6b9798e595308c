import ts from 'typescript';

/** A part of a file that is entered as a whole: a block, a function's expression, or the whole module. */
interface ReachPoint {
  id: string;
  start: number;
  end: number;
}

/** The global function through which instrumented code says where it came. */
export const reachedFunction = '__mutantsReached';

export function reachPointsOf(file: string, text: string): ReachPoint[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const points: ReachPoint[] = [{ id: `${file}#module`, start: 0, end: text.length }];
  const visit = (node: ts.Node): void => {
    if (isEntered(node))
      points.push({ id: `${file}#${node.getStart(source)}`, start: node.getStart(source), end: node.getEnd() });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return points;
}

/** The innermost point around a position. */
export function pointAround(points: ReachPoint[], position: number): string {
  const around = points.filter(({ start, end }) => start <= position && position < end);
  return around.reduce((inner, point) => (point.end - point.start <= inner.end - inner.start ? point : inner)).id;
}

/** The file with a call at each of its points. */
export function instrumented(file: string, text: string): string {
  let result = text;
  const calls = reachPointsOf(file, text).flatMap(({ id, start, end }) => {
    const call = `globalThis.${reachedFunction}?.(${JSON.stringify(id)})`;
    if (id.endsWith('#module')) return [{ at: end, text: `\n;${call};` }];
    if (text[start] === '{') return [{ at: start + 1, text: `${call};` }];
    return [
      { at: start, text: `(${call}, ` },
      { at: end, text: ')' },
    ];
  });
  // From the end to the start; at one position the call that begins an outer expression stands before that of an inner one.
  for (const { at, text: added } of calls.sort((a, b) => b.at - a.at)) result = result.slice(0, at) + added + result.slice(at);
  return result;
}

function isEntered(node: ts.Node): boolean {
  if (ts.isBlock(node)) return true;
  if (ts.isSourceFile(node)) return false;
  return ts.isArrowFunction(node.parent) && node.parent.body === node;
}
