/**
 * List prices on demand in us-east-1 and eu-west-1, in US dollars, without free tiers. A region such as eu-central-1 costs 10 to
 * 20 % more.
 */
export const pricesAsOf = 'November 2026';

/** Dollars for one of each. */
export const prices = {
  'HTTP API request': 1.0 / 1e6,
  'Lambda request': 0.2 / 1e6,
  'Lambda GB-second, ARM64': 0.0000133334,
  'DynamoDB write unit': 0.625 / 1e6,
  'DynamoDB read unit': 0.125 / 1e6,
  'DynamoDB GB-month stored': 0.25,
  'DynamoDB GB-month of point-in-time recovery': 0.2,
  'Step Functions transition': 25 / 1e6,
  'S3 PUT': 5 / 1e6,
  'S3 GET': 0.4 / 1e6,
  'S3 GB-month stored': 0.023,
  'GB sent to the internet': 0.09,
  'CloudWatch GB logged': 0.5,
  'CloudWatch alarm metric, month': 0.1,
  'CloudWatch custom metric, month': 0.3,
  'CloudWatch dashboard, month': 3,
  'KMS key, month': 1,
  'KMS signature': 15 / 1e6,
  'X-Ray trace recorded': 5 / 1e6,
  'Fargate vCPU-hour, ARM64': 0.03238,
  'Fargate GB-hour, ARM64': 0.00356,
  'Network Load Balancer hour': 0.0225,
  'Network Load Balancer capacity unit, hour': 0.006,
  'public IPv4 address, hour': 0.005,
  'Secrets Manager secret, month': 0.4,
  'EventBridge event put on a bus': 1 / 1e6,
  'EventBridge Pipes request': 0.4 / 1e6,
  'DynamoDB stream read': 0.2 / 1e6,
} as const;

export type Price = keyof typeof prices;

/** How much of what; what it costs is the sum. */
export type Bill = Partial<Record<Price, number>>;

export function dollars(bill: Bill): number {
  return Object.entries(bill).reduce((sum, [price, amount]) => sum + prices[price as Price] * amount, 0);
}

/** Several bills as one, each so many times. */
export function addUp(bills: readonly (readonly [times: number, bill: Bill])[]): Bill {
  const total: Bill = {};
  for (const [times, bill] of bills) {
    for (const [price, amount] of Object.entries(bill)) total[price as Price] = (total[price as Price] ?? 0) + times * amount;
  }
  return total;
}
