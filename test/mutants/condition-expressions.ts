const clause = /^(?:#?[\w.]+ (?:=|<>|<|<=|>|>=) :\w+|attribute_(?:not_)?exists\([\w.#]+\)|contains\([\w.#]+, :\w+\))$/;

/**
 * A condition expression of DynamoDB with each of its clauses made true in turn; nothing for other strings. The names and
 * values stay in use, since DynamoDB refuses a request with unused ones.
 */
export function conditionMutations(expression: string): string[] {
  const clauses = expression.split(' AND ');
  if (!clauses.every((each) => clause.test(each))) return [];
  return clauses.map((each, index) => clauses.with(index, `(${each} OR NOT (${each}))`).join(' AND '));
}
