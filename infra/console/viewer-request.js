// Runs at CloudFront for each request, before the cache. Its runtime knows no modules.
function handler(event) {
  const request = event.request;
  const uri = request.uri;
  const isScreen = uri.startsWith('/console/') && !uri.startsWith('/console/assets/') && uri !== '/console/config.json';
  if (isScreen) request.uri = '/console/index.html';
  if (uri === '/help/') request.uri = '/help/index.html';
  if (uri.startsWith('/console/') || uri.startsWith('/help/')) return request;
  return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: '/console/' } } };
}
