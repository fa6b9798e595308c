import ts from 'typescript';

/** A small change of a source that a test should notice. */
export interface Mutant {
  /** The path from the root of the repository. */
  file: string;
  operator: string;
  line: number;
  start: number;
  end: number;
  replacement: string;
  /** The changed lines before and after, white space collapsed. */
  before: string;
  after: string;
  /** True if the comment `// defence` marks its line, at its end or on the line before. */
  isDefence: boolean;
}

const otherTokens = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&' }));
const limitWords =
  /\b(seconds?|minutes|hours|days|bytes|size|limit|timeout|pause|retry|burst|tolerance|interval|times?|most|least|max|min|longest|largest|per)\b/;
const collapsed = (code: string) => code.trim().replace(/\s+/g, ' ');
const isWording = (node: ts.Node) =>
  ts.isCallExpression(node) && /^(log|console\.\w+|v\.(metadata|description|title))$/.test(node.expression.getText());
const isNumber = (node: ts.Node) => /^[\d_* ]+$/.test(node.getText());

/** Returns every mutant of a source. Strings, logs, descriptions and types stay as they are. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const mutants: Mutant[] = [];
  const add = (operator: string, replacement: string, of: ts.Node) => {
    const [start, end] = [of.getStart(source), of.getEnd()];
    const { line } = source.getLineAndCharacterOfPosition(start);
    const [from, to] = [text.lastIndexOf('\n', start - 1) + 1, `${text}\n`.indexOf('\n', end)];
    const before = collapsed(text.slice(from, to));
    const after = collapsed(text.slice(from, start) + replacement + text.slice(end, to));
    const isDefence = /\/\/ defence$/.test(lines[line] ?? '') || /^\s*\/\/ defence$/.test(lines[line - 1] ?? '');
    mutants.push({ file, operator, line: line + 1, start, end, replacement, before, after, isDefence });
  };
  const visit = (node: ts.Node): void => {
    const isType = ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node);
    if (isType || isWording(node)) return;
    const condition = conditionOf(node);
    if (condition) add('negated', `!(${condition.getText()})`, condition);
    const token = ts.isBinaryExpression(node) ? node.operatorToken : undefined;
    const other = token && otherTokens.get(token.getText());
    if (token && other) add(/[&|]/.test(other) ? 'logic' : 'shifted', other, token);
    if (isDroppable(node)) add('dropped', '{}', node);
    if (ts.isAwaitExpression(node)) {
      add('not awaited', (ts.isExpressionStatement(node.parent) ? 'void ' : '') + node.expression.getText(), node);
    }
    const limit = limitOf(node);
    if (limit) for (const value of othersFor(limit.getText())) add('limit', value, limit);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return node.expression;
  return ts.isConditionalExpression(node) || ts.isForStatement(node) ? node.condition : undefined;
}

function isDroppable(node: ts.Node): boolean {
  if (ts.isExpressionStatement(node)) return !isWording(node.expression) && !node.getText().startsWith('super(');
  const isBreak = ts.isBreakStatement(node) && !ts.isCaseOrDefaultClause(node.parent);
  return isBreak || ts.isThrowStatement(node) || ts.isContinueStatement(node) || (ts.isReturnStatement(node) && !node.expression);
}

/** Returns the number that a name of a time or a limit has, or that a schema checks. */
function limitOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isCallExpression(node)) {
    const [first] = node.arguments;
    return first && /\.(max|min)(Length|Value|Bytes|Size)$/.test(node.expression.getText()) && isNumber(first)
      ? first
      : undefined;
  }
  const isNamed =
    ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isBindingElement(node) || ts.isParameter(node);
  if (!isNamed || !node.initializer || !isNumber(node.initializer)) return undefined;
  return limitWords.test(node.name.getText().replace(/[A-Z]/g, ' $&').toLowerCase()) ? node.initializer : undefined;
}

/** Returns a number that is ten times as large, and one that is a tenth, as code. */
function othersFor(code: string): string[] {
  const value = code.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
  return [...new Set([value * 10, Math.floor(value / 10)])]
    .filter((other) => other !== value && !Number.isNaN(other))
    .map(String);
}
