/** Returns an answer of a call that was not conditional, which always has a body, with its headers. */
export async function withHeaders<Body>(
  answer: Promise<{ data: Body; response: Response }>,
): Promise<{ data: Exclude<Body, undefined>; headers: Headers }> {
  const { data, response } = await answer;
  if (data === undefined) throw new TypeError(`The answer of ${response.url} has no body.`);
  return { data: data as Exclude<Body, undefined>, headers: response.headers };
}
