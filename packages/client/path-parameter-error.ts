/** A parameter that would change the path of a request, such as `..`. */
export class PathParameterError extends TypeError {
  override readonly name = 'PathParameterError';
  readonly parameter: string;
  readonly value: unknown;

  constructor(parameter: string, value: unknown) {
    super(`${parameter} is ${JSON.stringify(value)}; expected an identifier.`);
    this.parameter = parameter;
    this.value = value;
  }
}
