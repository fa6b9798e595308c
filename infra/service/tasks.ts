import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { tasks, type Task, type TaskName } from '../../shared/tasks/tasks.ts';
import type { Issuer, Stage } from '../stages/stage.ts';
import type { Resources } from '../house/permissions.ts';
import { reservedFor } from './reserved-concurrency.ts';
import { ServiceFunction, type CodeOf } from './service-function.ts';

export interface TasksProps {
  stage: Stage;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
  undelivered: IQueue;
}

/** The functions of the tasks, created from the task table. */
export class Tasks extends Construct {
  private readonly functions = new Map<TaskName, LambdaFunction>();

  constructor(scope: Construct, id: string, props: TasksProps) {
    super(scope, id);
    for (const task of tasks) this.functions.set(task.name, this.functionOf(task, props));
  }

  named(name: TaskName): LambdaFunction {
    const found = this.functions.get(name);
    if (!found) throw new TypeError(`There is no task ${name}.`);
    return found;
  }

  private functionOf(task: Task & { name: TaskName }, { undelivered, ...props }: TasksProps): LambdaFunction {
    const { trigger } = task;
    const isScheduled = typeof trigger === 'object';
    const { lambda } = new ServiceFunction(this, task.name, {
      ...props,
      uses: task.uses,
      timeout: Duration.seconds(task.timeoutInSeconds),
      reservedConcurrency: reservedFor(task, props.stage),
      isScheduled,
      ...(trigger === 'execution status' || trigger === 'upload' || trigger === 'token' ? { deadLetterQueue: undelivered } : {}),
    });
    return lambda;
  }
}
