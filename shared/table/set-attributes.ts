/** The parts of an update that set attributes to new values. Their placeholders begin with `new_`. */
export function setAttributes(changes: Record<string, unknown>) {
  const entries = Object.entries(changes);
  return {
    UpdateExpression: `SET ${entries.map(([name]) => `#new_${name} = :new_${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#new_${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(entries.map(([name, value]) => [`:new_${name}`, value])),
  };
}
