import { changesBetween, type ApprovalChange, type Covered } from 'computation-management-formats/covered-changes';
import { statementSchema } from '../../shared/evidence/evidence.ts';

interface Schema {
  type: string;
  wrapped?: Schema;
  entries?: Record<string, Schema>;
  item?: Schema;
  options?: readonly unknown[];
}

/** A place in what an approval covers, with a value for the time before and after. */
interface Leaf {
  path: string[];
  values: [unknown, unknown];
}

function leavesOf(schema: Schema, path: string[]): Leaf[] {
  const { type, wrapped, entries, item, options } = schema;
  if (wrapped) return leavesOf(wrapped, path);
  if (entries) return Object.entries(entries).flatMap(([name, each]) => leavesOf(each, [...path, name]));
  if (type === 'null') return []; // it has one value
  if (type === 'array' && item?.type === 'number') return [{ path, values: [Array(32).fill(1), Array(32).fill(2)] }];
  if (item) return leavesOf(item, [...path, '0']);
  const values: Record<string, [unknown, unknown]> = {
    string: ['before', 'after'],
    number: [1, 2],
    boolean: [true, false],
    literal: [true, undefined],
    picklist: [options?.[0], options?.[1]],
  };
  const found = values[type];
  if (!found) throw new TypeError(`The field ${path.join('.')} has the type ${type}, for which there are no values yet.`);
  return [{ path, values: found }];
}

/** Builds what is covered from a value for each leaf. */
function build(leaves: readonly Leaf[], valueOf: (leaf: Leaf) => unknown): Covered {
  const root: Record<string, unknown> = {};
  for (const leaf of leaves) {
    const [last = '', ...above] = leaf.path.toReversed();
    let place = root;
    for (const [index, name] of above.toReversed().entries()) {
      place[name] ??= leaf.path[index + 1] === '0' ? [] : {};
      place = place[name] as Record<string, unknown>;
    }
    place[last] = valueOf(leaf);
  }
  return root as unknown as Covered;
}

/**
 * Returns, for each field of the manifest and the configuration in a statement, what the service says when only that field has changed.
 */
export function changesOfEachField(): { path: string; changes: ApprovalChange[] }[] {
  const { manifest, configuration } = statementSchema.entries as unknown as Record<'manifest' | 'configuration', Schema>;
  const leaves = [...leavesOf(manifest, ['manifest']), ...leavesOf(configuration, ['configuration'])];
  const before = build(leaves, ({ values }) => values[0]);
  return leaves.map((changed) => {
    const after = build(leaves, (leaf) => leaf.values[leaf === changed ? 1 : 0]);
    return { path: `/${changed.path.join('/')}`, changes: changesBetween(before, after) };
  });
}
