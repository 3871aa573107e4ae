"""The list of equivalent mutants, and the tables of a run."""
import collections
import csv
import os
import re


class Equivalents:
    """Known equivalent mutants: rows of file, function, original, mutant, reason; a column that begins with ~ is a regular expression."""

    def __init__(self, path):
        self.exact, self.patterns, self.used = {}, [], set()
        if not path:
            return
        with open(path, newline='') as file:
            rows = [r for r in csv.reader(file, delimiter='\t', quoting=csv.QUOTE_NONE) if len(r) >= 5 and r[0] != 'file']
        for row in rows:
            if any(x.startswith('~') for x in row[:4]):
                self.patterns.append(tuple(re.compile(x[1:] if x.startswith('~') else re.escape(x)) for x in row[:4]))
            else:
                self.exact[tuple(row[:4])] = row[4]

    def contains(self, m):
        columns = (m.file, m.function, m.original, m.mutant)
        return columns in self.exact or any(all(p.fullmatch(c) for p, c in zip(pattern, columns)) for pattern in self.patterns)


COLUMNS = ['generated', 'compiled', 'reached', 'run', 'noticed', 'survived', 'not reached', 'noticed of run %']


def report(project, runner):
    folder = project.options.results.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    rows = []
    for m in project.mutants:
        result = runner.results.get(m.key)
        cases = sorted(runner.reaching[m.id], key=lambda c: c['seconds'])
        status = 'does not compile' if m.key in project.dropped else 'not reached' if not cases else result['status'] if result else 'not run'
        counts = {'generated': 1, 'compiled': status != 'does not compile', 'reached': bool(cases), 'run': status in ('noticed', 'survived'),
                  'noticed': status == 'noticed', 'survived': status == 'survived', 'not reached': status == 'not reached'}
        room = os.path.dirname(m.file)
        of_seeds = [(f'rooms_{seed}', room) for seed in m.seeds if len(project.seeds) > 1]
        for kind, name in [('rooms', room), ('files', m.file), ('operators', m.operator), *of_seeds]:
            for group in (name, 'all'):
                table[kind][group].update({k: int(v) for k, v in counts.items()})
        result = result or {}
        rows.append({'key': m.key, 'seeds': ' '.join(m.seeds), 'status': status, 'file': m.file, 'line': m.line, 'function': m.function,
                     'operator': m.operator, 'original': m.original, 'mutant': m.mutant, 'how': result.get('how', ''), 'by': result.get('by', ''),
                     'cases run': len(result.get('ran', ())), 'cases reaching': len(cases), 'seconds': result.get('seconds', ''),
                     'cases': '; '.join(c['case'] for c in cases[:8]) + (f'; and {len(cases) - 8} more' if len(cases) > 8 else '')})
    for kind, groups in table.items():
        with open(folder / f'{kind}.tsv', 'w', newline='') as file:
            out = csv.writer(file, delimiter='\t')
            out.writerow([kind] + COLUMNS)
            for name in sorted(groups, key=lambda n: (n == 'all', n)):
                counts = groups[name]
                share = f'{100 * counts["noticed"] / counts["run"]:.0f}' if counts['run'] else '-'
                out.writerow([name] + [counts[c] for c in COLUMNS[:-1]] + [share])
    for name, wanted in (('mutants', None), ('survivors', 'survived'), ('not_reached', 'not reached')):
        with open(folder / f'{name}.tsv', 'w', newline='') as file:
            out = csv.DictWriter(file, list(rows[0]) if rows else ['key'], delimiter='\t', quoting=csv.QUOTE_NONE, quotechar=None, escapechar='\\')
            out.writeheader()
            out.writerows({k: str(v).replace('\t', ' ') for k, v in r.items()} for r in rows if wanted in (None, r['status']))
    with open(folder / 'survivors.txt', 'w') as file:
        for r in rows:
            if r['status'] == 'survived':
                print(f"{r['file']}:{r['line']}  {r['function']}  [{r['operator']}, {r['key']}]\n  - {r['original']}\n  + {r['mutant']}\n"
                      f"  {r['cases run']} of {r['cases reaching']} cases that reach it ran: {r['cases']}\n", file=file)
    width = max([len(name) for name in table['rooms']] + [8 + len(seed) for seed in project.seeds])
    for kind in [k for k in sorted(table) if k.startswith('rooms')]:
        print(kind.ljust(width) + ' '.join(c.rjust(len(c) + 1) for c in COLUMNS))
        for line in (folder / f'{kind}.tsv').read_text().splitlines()[1:]:
            cells = line.split('\t')
            print(cells[0].ljust(width) + ' '.join(x.rjust(len(c) + 1) for x, c in zip(cells[1:], COLUMNS)))
    print(f'{len(project.equivalent)} known equivalent mutants were left out. Survivors: {folder}/survivors.txt')
