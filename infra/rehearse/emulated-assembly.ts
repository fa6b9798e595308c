import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
}

export interface Template {
  Resources: Record<string, Resource>;
}

/** What was changed in a copy of the templates, a sentence each. */
export type Changes = string[];

/** Changes the synthesized copy in `folder` where MiniStack's CloudFormation refuses what that of AWS takes. */
export function adaptAssembly(folder: string): Changes {
  const files = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  return files.flatMap((name) => {
    const file = join(folder, name);
    const { template, changes } = adaptTemplate(JSON.parse(readFileSync(file, 'utf8')) as Template);
    writeFileSync(file, JSON.stringify(template));
    return changes.map((change) => `${name.replace('.template.json', '')}: ${change}`);
  });
}

export function adaptTemplate(template: Template): { template: Template; changes: Changes } {
  const computed = Object.entries(template.Resources).filter(([, resource]) => isAlarmOnMetricMath(resource));
  const leftOut = new Set(computed.map(([id]) => id));
  const kept = Object.fromEntries(Object.entries(template.Resources).filter(([id]) => !leftOut.has(id)));
  const written = withIssuerWrittenOut({ ...template, Resources: kept });
  const hasChanged = JSON.stringify(written).length !== JSON.stringify({ ...template, Resources: kept }).length;
  return {
    template: written as Template,
    changes: [
      ...(leftOut.size > 0 ? [`${leftOut.size} alarms on computed metrics are left out; MiniStack has no metric math.`] : []),
      ...(hasChanged ? ["The user pool's ProviderURL is written out; MiniStack has no such attribute."] : []),
    ],
  };
}

function isAlarmOnMetricMath({ Type, Properties }: Resource): boolean {
  return Type === 'AWS::CloudWatch::Alarm' && Properties !== undefined && 'Metrics' in Properties;
}

/** `Fn::GetAtt` of a user pool's ProviderURL, as the address that it stands for on AWS. */
function withIssuerWrittenOut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIssuerWrittenOut);
  if (typeof value !== 'object' || value === null) return value;
  const attribute = 'Fn::GetAtt' in value ? value['Fn::GetAtt'] : undefined;
  if (Array.isArray(attribute) && attribute[1] === 'ProviderURL') {
    const parts = ['https://cognito-idp.', { Ref: 'AWS::Region' }, '.amazonaws.com/', { Ref: attribute[0] as string }];
    return { 'Fn::Join': ['', parts] };
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withIssuerWrittenOut(part)]));
}
