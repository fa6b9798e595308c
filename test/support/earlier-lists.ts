import { listKeys, numbersPerLeaf, oldStatisticsKeys, type List } from '../../shared/table/keys.ts';
import { leafAttribute, midAttribute } from '../../shared/table/list-index.ts';
import type { Action } from '../../shared/table/transaction.ts';

/** What earlier versions wrote for a list: a number set of the members of each 256 numbers, and their counts. */
/**
 * Returns the actions that add a member to the list, for the transaction that puts its row. The caller's condition on the row
 * prevents that it is added twice. One transaction cannot change two members that share a leaf.
 */
export function addToList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, { add: facet }), midUpdate(list, number, [[facet, 1]])];
}

/** Returns the actions that change a member's facet, for the transaction that changes its row. */
export function moveInList(list: List, number: number, fromFacet: string, toFacet: string): Action[] {
  if (fromFacet === toFacet) return [];
  const counts: FacetChange[] = [
    [fromFacet, -1],
    [toFacet, 1],
  ];
  return [leafUpdate(list, number, { remove: fromFacet, add: toFacet }), midUpdate(list, number, counts)];
}

/** Returns the actions that remove a member, for the transaction that deletes its row on the condition that it has this facet. */
export function removeFromList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, { remove: facet }), midUpdate(list, number, [[facet, -1]])];
}

function leafUpdate(list: List, number: number, change: { add?: string; remove?: string }): Action {
  const clauses: string[] = [];
  const names: Record<string, string> = {};
  if (change.remove !== undefined) {
    clauses.push('DELETE #remove :offset');
    names['#remove'] = leafAttribute(list, change.remove);
  }
  if (change.add !== undefined) {
    clauses.push('ADD #add :offset');
    names['#add'] = leafAttribute(list, change.add);
  }
  return {
    update: {
      Key: listKeys.leaf(list, number),
      UpdateExpression: clauses.join(' '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':offset': new Set([number % numbersPerLeaf]) },
    },
  };
}

type FacetChange = [facet: string, change: number];

function midUpdate(list: List, number: number, changes: FacetChange[]): Action {
  return {
    update: {
      Key: listKeys.mid(list, number),
      UpdateExpression: `ADD ${changes.map((_, index) => `#count${index} :change${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        changes.map(([facet], index) => [`#count${index}`, midAttribute(list, facet, number)]),
      ),
      ExpressionAttributeValues: Object.fromEntries(changes.map(([, change], index) => [`:change${index}`, change])),
    },
  };
}

/** Returns the action with which earlier versions counted a status that a computation entered. */
export function countTransition(domain: string, status: string, now: string): Action {
  return {
    update: {
      Key: { pk: oldStatisticsKeys.partition(domain), sk: now.slice(0, 10) },
      UpdateExpression: 'ADD #status :one',
      ExpressionAttributeNames: { '#status': status },
      ExpressionAttributeValues: { ':one': 1 },
    },
  };
}
