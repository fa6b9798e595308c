// The form that issues tokens exists on one machine only. Elsewhere, users enter an access token at "Authorize".
const identity = document.getElementById('identity');
const outcome = document.getElementById('outcome');
const specification = await (await fetch('/openapi.json')).json();
const bearerSchemes = Object.entries(specification.components?.securitySchemes ?? {})
  .filter(([, scheme]) => scheme.type === 'http' && scheme.scheme === 'bearer')
  .map(([name]) => name);

const reference = window.SwaggerUIBundle({
  spec: specification,
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: 'list',
  filter: true,
  tryItOutEnabled: true,
  onComplete: () => identity && useToken(),
});

identity?.addEventListener('submit', (event) => {
  event.preventDefault();
  void useToken();
});

async function useToken() {
  const { sub, groups } = Object.fromEntries(new FormData(identity));
  const response = await fetch('/local/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub, groups: groups.split(/[\s,]+/).filter(Boolean) }),
  });
  const answer = await response.json();
  if (response.ok) for (const scheme of bearerSchemes) reference.preauthorizeApiKey(scheme, answer.access_token);
  outcome.textContent = response.ok ? `Signed in as ${sub}. The requests below send a token.` : answer.message;
}
