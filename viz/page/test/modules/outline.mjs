// The outline of simple TOML, as the server states it: line and column of each value, from 1.
export function outlineOf(text) {
  const none = () => ({ line: 0, settings: [] });
  const outline = { recipe: none(), matrix: none(), layout: none(), kernel: none(), stages: [], layouts: [] };
  let table = null;
  text.split('\n').forEach((line, i) => {
    const head = /^\s*(\[{1,2})\s*(\w+)/.exec(line);
    const value = /^(\s*(\w+)\s*=\s*)(.+)$/.exec(line);
    if (head && !value) {
      table = { line: i + 1, settings: [] };
      if (head[1] === '[[') outline[`${head[2]}s`].push(table);
      else outline[head[2]] = table;
    } else if (value && table) {
      const plain = /^("[^"]*"|'[^']*'|[^\s#,[{]+)/.exec(value[3])?.[0] ?? null;
      const found = plain === null ? null : /^["']/.test(plain) ? plain.slice(1, -1) : plain === 'true' ? true : plain === 'false' ? false : Number(plain);
      table.settings.push({ key: value[2], line: i + 1, column: [...value[1]].length + 1, value: found });
    }
  });
  return outline;
}
