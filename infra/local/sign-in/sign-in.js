/** Sends the user and the memberships on to the issuer, with what the console asked for. */
const form = document.getElementById('form');
const user = document.getElementById('user');
const domain = document.getElementById('domain');
const more = document.getElementById('more');
const problem = document.getElementById('problem');
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
user.select();

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
  localStorage.setItem(key, JSON.stringify({ user: user.value, domain: domain.value, roles: checked, more: more.value }));
  for (const added of form.querySelectorAll('input[type=hidden]')) added.remove();
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (name !== 'sub' && name !== 'group') addHidden(name, value);
  }
  for (const role of checked) addHidden('group', `${domain.value}:${role}`);
  for (const other of others) addHidden('group', other);
});

function addHidden(name, value) {
  const input = document.createElement('input');
  input.type = 'hidden';
  input.name = name;
  input.value = value;
  form.append(input);
}
