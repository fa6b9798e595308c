import description from '../../package.json' with { type: 'json' };

/** Returns the version of package.json. */
export function serviceVersion(): string {
  return description.version;
}
