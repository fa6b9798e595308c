/** Returns the parts of an update that set attributes. Their placeholders start with `new_`. */
export function setAttributes(changes: Record<string, unknown>) {
  const entries = Object.entries(changes);
  return {
    UpdateExpression: `SET ${entries.map(([name]) => `#new_${name} = :new_${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#new_${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(entries.map(([name, value]) => [`:new_${name}`, value])),
  };
}
