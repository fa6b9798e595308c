import description from '../../package.json' with { type: 'json' };

export function serviceVersion(): string {
  return description.version;
}
