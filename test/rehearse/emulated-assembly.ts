import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
}

export interface Template {
  Resources: Record<string, Resource>;
}

interface Adaptation {
  /** The change, and the reason: what AWS accepts and MiniStack does not. */
  because: string;
  apply: (template: Template) => Template;
}

const adaptations: Adaptation[] = [
  { because: 'alarms on computed metrics are removed: metric math is not supported', apply: withoutMetricMath },
  { because: 'the budget is removed: the resource type does not exist', apply: withoutBudget },
  { because: 'the user of the canary is removed: the resource types do not exist', apply: withoutUsers },
  { because: 'the check of the schema version is removed: functions have no SDK of AWS', apply: withoutSchemaCheck },
  { because: "the user pool's ProviderURL is written out: the attribute does not exist", apply: withProviderUrlWrittenOut },
  {
    because: 'SendTask… is allowed on every resource: a permission for the state machine only is not recognized',
    apply: withSendTaskOnEverything,
  },
  { because: 'keys are used in any context: no condition has it', apply: withoutEncryptionContext },
];

/** Changes a synthesized copy in `folder` where MiniStack refuses what AWS accepts. Returns a sentence for each change. */
export function adaptAssembly(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  return files.flatMap((name) => {
    const file = join(folder, name);
    const { template, changes } = adaptTemplate(JSON.parse(readFileSync(file, 'utf8')) as Template);
    writeFileSync(file, JSON.stringify(template));
    return changes.map((change) => `${name.replace('.template.json', '')}: ${change}`);
  });
}

export function adaptTemplate(original: Template): { template: Template; changes: string[] } {
  const changes: string[] = [];
  let template = original;
  for (const { because, apply } of adaptations) {
    const adapted = apply(template);
    if (JSON.stringify(adapted) !== JSON.stringify(template)) changes.push(because);
    template = adapted;
  }
  return { template, changes };
}

function withoutMetricMath(template: Template): Template {
  return without(template, ({ Type, Properties = {} }) => Type === 'AWS::CloudWatch::Alarm' && 'Metrics' in Properties);
}

function withoutBudget(template: Template): Template {
  return without(template, ({ Type }) => Type === 'AWS::Budgets::Budget');
}

const typesOfUsers = ['AWS::Cognito::UserPoolUser', 'AWS::Cognito::UserPoolUserToGroupAttachment'];

function withoutUsers(template: Template): Template {
  return without(template, ({ Type }) => typesOfUsers.includes(Type));
}

function withoutSchemaCheck(template: Template): Template {
  return without(template, ({ Type }) => Type === 'Custom::AWS');
}

function without(template: Template, isRemoved: (resource: Resource) => boolean): Template {
  const kept = Object.entries(template.Resources).filter(([, resource]) => !isRemoved(resource));
  return { ...template, Resources: Object.fromEntries(kept) };
}

function withProviderUrlWrittenOut(template: Template): Template {
  return rewrite(template, (part) => {
    const attribute = part['Fn::GetAtt'];
    if (!Array.isArray(attribute) || attribute[1] !== 'ProviderURL') return [part];
    const address = ['https://cognito-idp.', { Ref: 'AWS::Region' }, '.amazonaws.com/', { Ref: attribute[0] as string }];
    return [{ 'Fn::Join': ['', address] }];
  });
}

function withSendTaskOnEverything(template: Template): Template {
  return rewrite(template, (part) => {
    if (part['Effect'] !== 'Allow') return [part];
    const actions = [part['Action']].flat() as string[];
    const reports = actions.filter((action) => action.startsWith('states:SendTask'));
    const others = actions.filter((action) => !reports.includes(action));
    if (reports.length === 0) return [part];
    return [{ ...part, Action: reports, Resource: '*' }, ...(others.length > 0 ? [{ ...part, Action: others }] : [])];
  });
}

function withoutEncryptionContext(template: Template): Template {
  const key = 'kms:EncryptionContext';
  return rewrite(template, (part) => {
    const { Condition, ...rest } = part;
    return [JSON.stringify(Condition ?? '').includes(key) ? rest : part];
  });
}

type Part = Record<string, unknown>;

/** Replaces every object of the template with the result of `replace`, which may be several objects inside a list only. */
function rewrite(template: Template, replace: (part: Part) => Part[]): Template {
  const walk = (value: unknown): unknown[] => {
    if (Array.isArray(value)) return [value.flatMap(walk)];
    if (typeof value !== 'object' || value === null) return [value];
    return replace(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)[0]])));
  };
  return walk(template)[0] as Template;
}
