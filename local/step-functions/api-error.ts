/** The errors of the Step Functions API that the local server answers with. */
export type ApiErrorName =
  | 'ExecutionAlreadyExists'
  | 'ExecutionDoesNotExist'
  | 'InvalidArn'
  | 'InvalidExecutionInput'
  | 'InvalidName'
  | 'InvalidOutput'
  | 'InvalidToken'
  | 'SerializationException'
  | 'StateMachineDoesNotExist'
  | 'TaskDoesNotExist'
  | 'TaskTimedOut'
  | 'UnknownOperationException'
  | 'ValidationException';

/** An error response that the AWS SDK turns into an exception of the same name. */
export class ApiError extends Error {
  override readonly name: ApiErrorName;

  constructor(name: ApiErrorName, message: string) {
    super(message);
    this.name = name;
  }
}
