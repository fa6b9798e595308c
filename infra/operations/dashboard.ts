import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  PeriodOverride,
  Stats,
  TextWidget,
  type IMetric,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { functionNames } from '../bundles/function-names.ts';
import { gatewayLogName } from '../gateway/gateway-service.ts';
import { nameIn } from '../stage.ts';
import type { Alarms } from './alarms.ts';
import {
  apiMetric,
  connectedCvms,
  functionMetric,
  gatewayTaskMetric,
  serviceMetric,
  tableMetric,
  throttledFunctions,
  undeliveredEvents,
  executionMetric,
  type Watched,
} from './metrics.ts';

const full = 24;
const third = 8;

/** Shows whether the service works, for which domains it fails, and since when. */
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
        throttledFunctions(watched),
        tableMetric(watched, 'ReadThrottleEvents'),
        tableMetric(watched, 'WriteThrottleEvents'),
        undeliveredEvents(watched),
      ]),
    );
    if (watched.stage.gateway) {
      this.addWidgets(heading('CVMs at the gateway'), ...gatewayGraphs(watched));
      this.addWidgets(refusals(watched));
    }
    this.addWidgets(heading('Failures by domain'), failuresByDomain(watched));
    this.addWidgets(latestFailures(watched));
    this.addWidgets(
      graph(
        'Slowest functions, 99th percentile in milliseconds',
        functionNames.map((name) => functionMetric(watched, name, 'Duration')),
        full,
      ),
    );
  }
}

function heading(text: string): IWidget {
  return new TextWidget({ markdown: `## ${text}`, width: full, height: 1 });
}

function graph(title: string, left: IMetric[], width = third): IWidget {
  return new GraphWidget({ title, left, width, height: 6 });
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
    new GraphWidget({
      title: 'Tasks in percent, and the oldest report in milliseconds',
      left: [gatewayTaskMetric(watched, 'CPUUtilization'), gatewayTaskMetric(watched, 'MemoryUtilization')],
      right: [most('OutboxAge')],
      width: third,
      height: 6,
    }),
  ];
}

/** Apart from the failures of functions, because a query reads at most 50 logs. */
function refusals({ stage }: Watched): IWidget {
  return new LogQueryWidget({
    title: 'Warnings and failures of the gateway',
    logGroupNames: [gatewayLogName(stage)],
    queryLines: [
      'filter level in ["WARN", "ERROR"] and not ispresent(log)',
      'stats count(*) as entries, max(@timestamp) as latest by domain, cvm_id, message, reason, error.name',
      'sort latest desc',
      'limit 50',
    ],
    view: LogQueryVisualizationType.TABLE,
    width: full,
    height: 6,
  });
}

function logs({ stage }: Watched): string[] {
  return functionNames.map((name) => `/aws/lambda/${nameIn(stage, name)}`);
}

const failures = 'filter level = "ERROR"';

function failuresByDomain(watched: Watched): IWidget {
  return new LogQueryWidget({
    title: 'Failures by domain',
    logGroupNames: logs(watched),
    queryLines: [
      failures,
      'fields coalesce(endpoint, task) as name',
      'stats count(*) as failures, min(@timestamp) as since, max(@timestamp) as latest by domain, name, code',
      'sort failures desc',
    ],
    view: LogQueryVisualizationType.TABLE,
    width: full,
    height: 6,
  });
}

function latestFailures(watched: Watched): IWidget {
  return new LogQueryWidget({
    title: 'Latest failures',
    logGroupNames: logs(watched),
    queryLines: [
      failures,
      'fields @timestamp, domain, coalesce(endpoint, task) as name, request_id, message, error.name, error.message',
      'sort @timestamp desc',
      'limit 20',
    ],
    view: LogQueryVisualizationType.TABLE,
    width: full,
    height: 6,
  });
}
