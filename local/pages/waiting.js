/** Shows the console as soon as it is built, or why it is not. */
const intervalInMilliseconds = 1_000;

async function look() {
  const response = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
  if (response && response.status !== 503) location.reload();
  else setTimeout(look, intervalInMilliseconds);
}

setTimeout(look, intervalInMilliseconds);
