import { startAnswering } from './local-requests.ts';

/** Answers as CloudFormation does: every stack has these outputs. */
export async function startAnsweringStacks(outputs: () => Record<string, string>): ReturnType<typeof startAnswering> {
  return await startAnswering(() => {
    const members = Object.entries(outputs()).map(
      ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    const described = `<StackName>s</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs>`;
    return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${described}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  });
}
