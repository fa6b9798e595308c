import type { List } from '../../shared/table/keys.ts';
import { numbersPerLeaf, oldListKeys, oldStatisticsKeys } from '../../shared/table/old-list-keys.ts';
import { leafAttribute, midAttribute } from '../../shared/lists/old-counts.ts';
import type { Action } from '../../shared/table/transaction.ts';

/**
 * Returns the actions with which earlier versions added a member to a list: to the number set of its leaf and to the leaf's count.
 * One transaction cannot add two members that share a leaf.
 */
export function addToList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, facet), midUpdate(list, number, facet)];
}

function leafUpdate(list: List, number: number, facet: string): Action {
  return {
    update: {
      Key: oldListKeys.leaf(list, number),
      UpdateExpression: 'ADD #members :offset',
      ExpressionAttributeNames: { '#members': leafAttribute(list, facet) },
      ExpressionAttributeValues: { ':offset': new Set([number % numbersPerLeaf]) },
    },
  };
}

function midUpdate(list: List, number: number, facet: string): Action {
  return {
    update: {
      Key: oldListKeys.mid(list, number),
      UpdateExpression: 'ADD #count :one',
      ExpressionAttributeNames: { '#count': midAttribute(list, facet, number) },
      ExpressionAttributeValues: { ':one': 1 },
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
