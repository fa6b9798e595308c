import ts from 'typescript';

/** One small change of a source file that tests or types should notice. */
export interface Mutant {
  /** Path from the root of the repository. */
  file: string;
  operator: string;
  line: number;
  /** The changed lines before and after, white space collapsed. */
  before: string;
  after: string;
  /** The whole file with the change. */
  text: string;
}

/** The change of one node: its text, or a part of the file where that differs. */
interface Change {
  operator: string;
  replacement: string;
  range?: [start: number, end: number];
}

const otherOperators: Partial<Record<ts.SyntaxKind, string[]>> = {
  [ts.SyntaxKind.LessThanToken]: ['<=', '>='],
  [ts.SyntaxKind.LessThanEqualsToken]: ['<', '>'],
  [ts.SyntaxKind.GreaterThanToken]: ['>=', '<='],
  [ts.SyntaxKind.GreaterThanEqualsToken]: ['>', '<'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ['!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ['==='],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ['||'],
  [ts.SyntaxKind.BarBarToken]: ['&&'],
  [ts.SyntaxKind.PlusToken]: ['-'],
  [ts.SyntaxKind.MinusToken]: ['+'],
  [ts.SyntaxKind.AsteriskToken]: ['/'],
  [ts.SyntaxKind.SlashToken]: ['*'],
  [ts.SyntaxKind.PercentToken]: ['*'],
  [ts.SyntaxKind.PlusEqualsToken]: ['-='],
  [ts.SyntaxKind.MinusEqualsToken]: ['+='],
};
const otherMethods: Record<string, string> = { every: 'some', some: 'every', min: 'max', max: 'min' };
const droppedMethods = new Set(['filter', 'sort', 'reverse', 'slice', 'trim', 'toLowerCase', 'replace', 'subarray']);

/** Every mutant of a file. Wording is left alone: of strings, only conditions of DynamoDB and what is compared are changed. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return;
    for (const { operator, replacement, range: [start, end] = [node.getStart(source), node.getEnd()] } of changesOf(
      node,
      source,
    )) {
      const from = text.lastIndexOf('\n', start) + 1;
      const to = `${text}\n`.indexOf('\n', end);
      const after = collapsed(text.slice(from, start) + replacement + text.slice(end, to));
      const line = text.slice(0, start).split('\n').length;
      const mutated = text.slice(0, start) + replacement + text.slice(end);
      mutants.push({ file, operator, line, before: collapsed(text.slice(from, to)), after, text: mutated });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

function collapsed(code: string): string {
  return code.trim().replace(/\s+/g, ' ');
}

/** What does nothing when the code runs, or only describes it. */
function isLeftAlone(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) {
    const callee = node.expression;
    return ts.isPropertyAccessExpression(callee) && ['description', 'examples'].includes(callee.name.text);
  }
  return (
    ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
  );
}

function changesOf(node: ts.Node, source: ts.SourceFile): Change[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return stringChanges(node, source);
  if (ts.isBinaryExpression(node)) return binaryChanges(node, source);
  if (ts.isNumericLiteral(node)) return [{ operator: 'number', replacement: String(Number(node.text.replaceAll('_', '')) + 1) }];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ operator: 'boolean', replacement: 'false' }];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ operator: 'boolean', replacement: 'true' }];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [{ operator: 'negation', replacement: node.operand.getText(source) }];
  if (ts.isIfStatement(node)) return forced(node.expression, source, ['true', 'false']);
  if (ts.isConditionalExpression(node)) return forced(node.condition, source, ['true', 'false']);
  if (ts.isWhileStatement(node) || ts.isDoStatement(node)) return forced(node.expression, source, ['false']);
  if (isRemovable(node)) return [{ operator: 'statement', replacement: node.parent.kind === ts.SyntaxKind.Block ? '' : '{}' }];
  if (ts.isArrayLiteralExpression(node) && !isAssigned(node)) return removals('element', node.elements, source);
  if (ts.isObjectLiteralExpression(node) && !isAssigned(node))
    return removals('property', node.properties, source).filter((_, index) => !isPartOfRequest(node.properties[index], source));
  if (ts.isCallExpression(node)) return callChanges(node, source);
  if (ts.isRegularExpressionLiteral(node)) return anchorChanges(node.getText(source));
  return [];
}

function stringChanges(node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral, source: ts.SourceFile): Change[] {
  const conditions = conditionMutations(node.text).map((text) => ({ operator: 'condition', replacement: `'${text}'` }));
  if (conditions.length > 0) return isKeyCondition(node) ? [] : conditions;
  const { parent } = node;
  const isCompared = ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText(source));
  const isListed = ts.isArrayLiteralExpression(parent) || ts.isCaseClause(parent);
  return isCompared || isListed ? [{ operator: 'string', replacement: "'mutated'" }] : [];
}

const clause = /^(?:#?[\w.]+ (?:=|<>|<|<=|>|>=) :\w+|attribute_(?:not_)?exists\([\w.#]+\)|contains\([\w.#]+, :\w+\))$/;

/**
 * A condition expression of DynamoDB with each of its clauses made true in turn; nothing for other strings. The names and
 * values stay in use, since DynamoDB refuses a request with unused ones.
 */
function conditionMutations(expression: string): string[] {
  const clauses = expression.split(' AND ');
  if (!clauses.every((each) => clause.test(each))) return [];
  return clauses.map((each, index) => clauses.with(index, `(${each} OR NOT (${each}))`).join(' AND '));
}

/** The engine refuses any other key condition, so that its mutants say nothing. */
function isKeyCondition({ parent }: ts.Node): boolean {
  return ts.isPropertyAssignment(parent) && ts.isIdentifier(parent.name) && parent.name.text === 'KeyConditionExpression';
}

function binaryChanges(node: ts.BinaryExpression, source: ts.SourceFile): Change[] {
  const { left, operatorToken, right } = node;
  const range: [number, number] = [operatorToken.getStart(source), operatorToken.getEnd()];
  const changes: Change[] = (otherOperators[operatorToken.kind] ?? []).map((replacement) => ({
    operator: 'operator',
    replacement,
    range,
  }));
  const isLogical = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(operatorToken.kind);
  if (!isLogical && operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken) return changes;
  for (const side of [left, right]) changes.push({ operator: 'side', replacement: `(${side.getText(source)})` });
  return changes;
}

function forced(condition: ts.Expression, source: ts.SourceFile, values: string[]): Change[] {
  const range: [number, number] = [condition.getStart(source), condition.getEnd()];
  return values.map((replacement) => ({ operator: 'branch', replacement, range }));
}

function isRemovable(node: ts.Node): boolean {
  return ts.isExpressionStatement(node) || ts.isThrowStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node);
}

/** The left side of a destructuring assignment. */
function isAssigned(node: ts.Expression): boolean {
  return ts.isBinaryExpression(node.parent) && node.parent.left === node;
}

/** The list without each of its members, the comma behind it gone too. */
function removals(operator: string, members: ts.NodeArray<ts.Node>, source: ts.SourceFile): Change[] {
  return members.map((member, index) => {
    const next = members[index + 1];
    const end = next ? next.getStart(source) : members.end;
    return { operator, replacement: '', range: [member.getStart(source), end] };
  });
}

/** Names, values and expressions that belong together: DynamoDB refuses a request that lacks one of them, so that it says nothing. */
function isPartOfRequest(property: ts.ObjectLiteralElementLike | undefined, source: ts.SourceFile): boolean {
  return /^(?:\w*Expression|ExpressionAttribute\w+|Key\b|TableName|'?[:#]|\.\.\.\{ '[:#])/.test(property?.getText(source) ?? '');
}

function callChanges(node: ts.CallExpression, source: ts.SourceFile): Change[] {
  const callee = node.expression;
  if (!ts.isPropertyAccessExpression(callee)) return [];
  const { name, expression } = callee;
  const other = otherMethods[name.text];
  const changes: Change[] = [];
  if (other) changes.push({ operator: 'method', replacement: other, range: [name.getStart(source), name.getEnd()] });
  if (droppedMethods.has(name.text)) changes.push({ operator: 'call', replacement: expression.getText(source) });
  return changes;
}

function anchorChanges(regex: string): Change[] {
  const changes: Change[] = [];
  if (regex.startsWith('/^')) changes.push({ operator: 'anchor', replacement: regex.replace('/^', '/') });
  if (/[^\\]\$\/[a-z]*$/.test(regex)) changes.push({ operator: 'anchor', replacement: regex.replace(/\$(?=\/[a-z]*$)/, '') });
  return changes;
}
