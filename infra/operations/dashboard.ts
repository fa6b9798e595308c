import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  LogQueryVisualizationType,
  LogQueryWidget,
  PeriodOverride,
  Stats,
  TextWidget,
  type IMetric,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { functionNames, type FunctionName } from '../service/service-function.ts';
import { gatewayLogName } from '../gateway/gateway-service.ts';
import { nameIn } from '../stages/stage.ts';
import type { Alarms } from './alarms.ts';
import {
  apiMetric,
  connectedCvms,
  functionMetric,
  gatewayTaskMetric,
  serviceMetric,
  tableMetric,
  throttledSteps,
  unansweredRequests,
  undeliveredEvents,
  executionMetric,
  type Watched,
} from './metrics.ts';

const full = 24;
const third = 8;

/**
 * The functions of the service in three parts of the dashboard, because CloudWatch refuses a query of more than 50 logs. A
 * function that reads by one method and changes by another is among the changes.
 */
const parts = [
  { title: 'reads', functions: functionNames.filter((name) => isEndpoint(name) && !changes(name)) },
  { title: 'changes', functions: functionNames.filter(changes) },
  { title: 'tasks', functions: functionNames.filter((name) => !isEndpoint(name)) },
];

type Part = (typeof parts)[number];

function isEndpoint(name: FunctionName): boolean {
  return routes.some((route) => route.name === name);
}

function changes(name: FunctionName): boolean {
  return routes.some((route) => route.name === name && route.method !== 'GET');
}

/** The dashboard of a stage, which shows whether the service works, for which domains it fails, and since when. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, watched: Watched, alarms: Alarms) {
    super(scope, id, { dashboardName: nameIn(watched.stage, 'dashboard'), periodOverride: PeriodOverride.INHERIT });
    this.addWidgets(heading('Is it working?'), new AlarmStatusWidget({ alarms: alarms.all, width: full, height: 6 }));
    this.addWidgets(
      graph('Requests', [apiMetric(watched, 'Count'), apiMetric(watched, '4xx'), apiMetric(watched, '5xx')]),
      graph(
        'Latency in milliseconds',
        [50, 99].map((percent) => apiMetric(watched, 'Latency', Stats.percentile(percent))),
      ),
      graph('Runs', [
        serviceMetric(watched, 'RunsStarted').with({ label: 'started' }),
        ...['completed', 'failed', 'cancelled'].map((outcome) =>
          serviceMetric(watched, 'RunsEnded', Stats.SUM, { outcome }).with({ label: outcome }),
        ),
      ]),
    );
    this.addWidgets(
      graph('CVMs, in milliseconds', [
        serviceMetric(watched, 'TimeToAccept', Stats.percentile(90)),
        serviceMetric(watched, 'ReportLag', Stats.percentile(90)),
      ]),
      graph('Executions', [
        executionMetric(watched, 'ExecutionsFailed'),
        executionMetric(watched, 'ExecutionsTimedOut'),
        executionMetric(watched, 'ExecutionsAborted'),
      ]),
      graph('Throttling and conflicts', [
        serviceMetric(watched, 'ConflictsRetried'),
        throttledSteps(watched),
        unansweredRequests(watched),
        tableMetric(watched, 'ReadThrottleEvents'),
        tableMetric(watched, 'WriteThrottleEvents'),
        undeliveredEvents(watched),
      ]),
    );
    if (watched.stage.gateway) {
      this.addWidgets(heading('CVMs at the gateway'), ...gatewayGraphs(watched));
      this.addWidgets(refusals(watched));
    }
    this.addWidgets(heading('Failures by domain'));
    this.addWidgets(failedRunsByCvm(watched));
    for (const part of parts) this.addWidgets(failuresByDomain(watched, part));
    for (const part of parts) this.addWidgets(latestFailures(watched, part));
    this.addWidgets(
      graph(
        'Slowest functions, 99th percentile in milliseconds',
        functionNames.map((name) => functionMetric(watched, name, 'Duration')),
        { width: full },
      ),
    );
  }
}

function heading(text: string): IWidget {
  return new TextWidget({ markdown: `## ${text}`, width: full, height: 1 });
}

function graph(title: string, left: IMetric[], more: GraphWidgetProps = {}): IWidget {
  return new GraphWidget({ title, left, width: third, height: 6, ...more });
}

function gatewayGraphs(watched: Watched): IWidget[] {
  const most = (name: 'MissingForwarders' | 'SpentCvms' | 'OutboxAge') => serviceMetric(watched, name, Stats.MAXIMUM);
  return [
    graph('CVMs', [connectedCvms(watched), most('MissingForwarders'), most('SpentCvms')]),
    graph('Refused and dropped', [
      serviceMetric(watched, 'StreamsRefused'),
      serviceMetric(watched, 'IdentityConflicts'),
      serviceMetric(watched, 'ReportsDropped'),
    ]),
    graph(
      'Tasks in percent, and the oldest report in milliseconds',
      [gatewayTaskMetric(watched, 'CPUUtilization'), gatewayTaskMetric(watched, 'MemoryUtilization')],
      { right: [most('OutboxAge')] },
    ),
  ];
}

function refusals({ stage }: Watched): IWidget {
  const logs = [gatewayLogName(stage)];
  return table('Warnings and failures of the gateway', logs, [
    'filter level in ["WARN", "ERROR"] and not ispresent(log)',
    'stats count(*) as entries, max(@timestamp) as latest by domain, cvm_id, message, reason, error.name',
    'sort latest desc',
    'limit 50',
  ]);
}

function logs({ stage }: Watched, functions: readonly FunctionName[]): string[] {
  return functions.map((name) => `/aws/lambda/${nameIn(stage, name)}`);
}

const failures = 'filter level = "ERROR"';

function failuresByDomain(watched: Watched, { title, functions }: Part): IWidget {
  return table(`Failures of ${title} by domain`, logs(watched, functions), [
    failures,
    'fields coalesce(endpoint, task) as name',
    'stats count(*) as failures, min(@timestamp) as since, max(@timestamp) as latest by domain, name, code',
    'sort failures desc',
  ]);
}

function failedRunsByCvm(watched: Watched): IWidget {
  const ending = functionNames.filter((name) => name.startsWith('lifecycle/'));
  return table('Runs that failed, why, and on which CVMs', logs(watched, ending), [
    'filter message = "A run failed."',
    'stats count(*) as runs, latest(run_id) as latest by domain, cvm_id, reason',
    'sort runs desc',
    'limit 50',
  ]);
}

function latestFailures(watched: Watched, { title, functions }: Part): IWidget {
  return table(`Latest failures of ${title}`, logs(watched, functions), [
    failures,
    'fields @timestamp, domain, coalesce(endpoint, task) as name, request_id, message, error.name, error.message',
    'sort @timestamp desc',
    'limit 20',
  ]);
}

/** Returns a widget with the rows that a query of CloudWatch Logs Insights finds in the given log groups. */
function table(title: string, logGroupNames: string[], queryLines: string[]): IWidget {
  const view = LogQueryVisualizationType.TABLE;
  return new LogQueryWidget({ title, logGroupNames, queryLines, view, width: full, height: 6 });
}
