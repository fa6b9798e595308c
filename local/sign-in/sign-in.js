/**
 * Sends the user and the memberships on to the issuer: with what the console or a program asked for, or for the code that a
 * terminal shows.
 */
const form = document.getElementById('form');
const user = document.getElementById('user');
const domain = document.getElementById('domain');
const more = document.getElementById('more');
const problem = document.getElementById('problem');
const code = document.getElementById('code');
const refuse = document.getElementById('refuse');
const isDevice = location.pathname.endsWith('/device');
const roles = [...form.querySelectorAll('input[type=checkbox]')];
const membership = /^[A-Za-z0-9_-]{1,64}:[a-z_]+(:.+)?$/;
const key = 'local.sign-in';

const last = JSON.parse(localStorage.getItem(key) ?? 'null');
if (last) {
  user.value = last.user;
  domain.value = last.domain;
  more.value = last.more;
  for (const role of roles) role.checked = last.roles.includes(role.value);
}
const { returnTo = '' } = JSON.parse(sessionStorage.getItem('console.sign-in') ?? '{}');
const [, wanted] = /^\/console\/domains\/([A-Za-z0-9_-]{1,64})(?:\/|$)/.exec(returnTo) ?? []; // where the console comes back to
if (wanted) domain.value = wanted;
if (isDevice) {
  for (const part of document.querySelectorAll('.of-device')) part.hidden = false;
  code.required = true;
  code.value = new URLSearchParams(location.search).get('user_code') ?? '';
  refuse.addEventListener('click', () => void decide({ refused: true }, 'The sign-in is refused.'));
}
const redirectUri = new URLSearchParams(location.search).get('redirect_uri');
const leadsBack =
  redirectUri === null ||
  redirectUri === `${location.origin}/console/` ||
  /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/.test(redirectUri);
if (!isDevice && !leadsBack) {
  form.hidden = true;
  document.getElementById('done').textContent =
    `The page at ${redirectUri} cannot sign users in here. Have it ask to return to http://127.0.0.1:<port>/callback, on the port ` +
    'at which you open it, or give it a token of npm run token: see docs/front-end.md.';
} else if (isDevice && code.value === '') code.focus();
else user.select();

form.addEventListener('submit', (event) => {
  const checked = roles.filter(({ checked }) => checked).map(({ value }) => value);
  const others = more.value.split(/[\s,]+/).filter(Boolean);
  const wrong = others.find((text) => !membership.test(text));
  if (wrong !== undefined) {
    event.preventDefault();
    problem.textContent = `${wrong} is not of the form <domain>:<role>.`;
    more.focus();
    return;
  }
  const memberships = [...checked.map((role) => `${domain.value}:${role}`), ...others];
  localStorage.setItem(key, JSON.stringify({ user: user.value, domain: domain.value, roles: checked, more: more.value }));
  if (isDevice) {
    event.preventDefault();
    void decide({ sub: user.value, group: memberships }, `You are signed in as ${user.value}. Go back to the terminal.`);
    return;
  }
  for (const added of form.querySelectorAll('input[type=hidden]')) added.remove();
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (name !== 'sub' && name !== 'group') addHidden(name, value);
  }
  for (const membership of memberships) addHidden('group', membership);
});

/** Tells the issuer the user's decision about the code of a terminal, and shows the outcome. */
async function decide(decision, outcome) {
  problem.textContent = '';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ user_code: code.value, ...decision });
  const response = await fetch('/local/issuer/device', { method: 'POST', headers, body }).catch(() => undefined);
  if (response?.ok) {
    form.hidden = true;
    document.getElementById('done').textContent = outcome;
    return;
  }
  const answer = await response?.json().catch(() => undefined);
  problem.textContent = answer?.message ?? 'The service does not answer.';
  code.focus();
}

function addHidden(name, value) {
  const input = document.createElement('input');
  input.type = 'hidden';
  input.name = name;
  input.value = value;
  form.append(input);
}
