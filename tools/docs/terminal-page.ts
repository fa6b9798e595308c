/** Returns a page that shows what a terminal shows: the first line is what was typed. An end of a run has its colour, as in `cms`. */
export function terminalPage(text: string): string {
  const [typed = '', ...printed] = text.trimEnd().split('\n');
  const [, prompt = '', command = ''] = /^(\S+\$ )(.*)$/.exec(typed) ?? [];
  const lines = printed.map((line) => `<span class="${kindOf(line)}">${escaped(line)}</span>`);
  return `<!doctype html>
<meta charset="utf-8">
<style>
  body { margin: 0; }
  pre {
    display: inline-block;
    margin: 0;
    padding: 18px 22px;
    color: #d5dbe3;
    background: #10161f;
    font: 15px/1.5 'DejaVu Sans Mono', Menlo, Consolas, monospace;
  }
  b { color: #ffffff; }
  .prompt { color: #6fb1ff; }
  .completed { color: #6fdc8c; }
  .failed { color: #ff8389; }
  .next { color: #9aa7b5; }
</style>
<pre><span class="prompt">${escaped(prompt)}</span><b>${escaped(command)}</b>
${lines.join('\n')}</pre>`;
}

function kindOf(line: string): string {
  if (line.startsWith('✓')) return 'completed';
  if (line.startsWith('✗')) return 'failed';
  return line.startsWith('Next: ') ? 'next' : 'plain';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
