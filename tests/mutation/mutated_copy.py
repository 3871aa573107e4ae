"""A copy of the project that contains all mutants, and its build."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from cpp_mutants import MutableSource, sample
from tables import Equivalents

RUNTIME = pathlib.Path(__file__).resolve().parent / 'mutants.hpp.in'
LOCATION = re.compile(r'^(?:In file included from |\s+from )?(/[^:\n]+):(\d+)(?::(\d+))?[:,]')


def say(*words):
    print(time.strftime('%H:%M:%S'), *words, file=sys.stderr, flush=True)


def write_if_changed(path, text):
    data = text.encode() if isinstance(text, str) else text
    if path.is_symlink() or not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Project:
    """The files of a project, its mutants, and the copy that contains them."""

    def __init__(self, options, first_lines=None):
        """first_lines: {file: the numbers of the lines whose mutants come first}"""
        self.first_lines = first_lines or {}
        self.options, self.root, self.work = options, options.root.resolve(), options.work.resolve()
        self.tree = (options.tree or self.work / 'tree').resolve()
        self.build = (options.build or self.tree / 'build/mutants').resolve()
        if self.tree == self.root:
            sys.exit('the copy with mutants (--tree) must not be the project itself')
        self.work.mkdir(parents=True, exist_ok=True)
        self.sources, self.mutants, self.dropped = {}, [], {}
        self.seeds = list(dict.fromkeys(options.seed.split(',')))

    # ---- plan

    def files(self):
        """Returns the sources that the arguments name: .cpp and .hpp of folders without their subfolders, unless --recursive is given."""
        names = []
        for path in self.options.paths:
            full = self.root / path
            pattern = '**/*' if self.options.recursive else '*'
            found = [full] if full.is_file() else sorted(x for x in full.glob(pattern) if x.suffix in ('.cpp', '.hpp'))
            names += [str(x.relative_to(self.root)) for x in found if not re.search(self.options.exclude, str(x.relative_to(self.root)))]
        return list(dict.fromkeys(names))

    def plan(self):
        equivalents = Equivalents(self.options.equivalents)
        not_compiling = self.work / 'not_compiling.json'
        self.dropped = json.loads(not_compiling.read_text()) if not_compiling.exists() else {}
        self.equivalent = []
        for name in self.files():
            source = MutableSource(name, (self.root / name).read_text())
            source.find()
            self.sources[name] = source
            for seed in self.seeds:
                chosen = sample(source, self.options.per_hundred_lines, seed, self.first_lines.get(name, ()))
                for rank, m in enumerate(chosen):
                    m.seeds.append(seed)
                    if len(m.seeds) > 1 or self.options.without and re.fullmatch(self.options.without, m.operator):
                        continue
                    m.rank = rank / len(chosen)  # so that a run that is stopped has tried the same share of each file
                    (self.equivalent if equivalents.contains(m) else self.mutants).append(m)
        numbers = self.work / 'numbers.json'  # of all mutants that were ever planned, so that other plans leave files as they are
        self.numbers = json.loads(numbers.read_text()) if numbers.exists() else {}
        for m in self.mutants:
            m.id = self.numbers.setdefault(m.key, len(self.numbers) + 1)
        numbers.write_text(json.dumps(self.numbers))
        self.most = (len(self.numbers) // 5000 + 1) * 5000
        say(f'{len(self.mutants)} mutants in {len(self.sources)} files, sampled from {sum(len(s.mutants) for s in self.sources.values())}'
            f' ({len(self.equivalent)} known to be equivalent)')

    def alive(self):
        return [m for m in self.mutants if m.key not in self.dropped]

    # ---- build

    def write_tree(self):
        """Makes the copy of the project equal to the project with all mutants."""
        listed = subprocess.run(['git', 'ls-files', '-coz', '--exclude-standard'], cwd=self.root, capture_output=True, check=True).stdout
        names = [n for n in listed.decode().split('\0') if n and (self.root / n).exists() and not (self.root / n).resolve().is_relative_to(self.work)]
        listed_before = self.work / 'files.txt'
        if listed_before.exists():
            for name in set(listed_before.read_text().splitlines()) - set(names):
                (self.tree / name).unlink(missing_ok=True)
        listed_before.write_text('\n'.join(names))
        runtime = self.work / 'mutants.hpp'
        write_if_changed(runtime, RUNTIME.read_text().replace('@COUNT@', str(self.most)))
        by_file = collections.defaultdict(list)
        for m in self.alive():
            by_file[m.file].append(m)
        self.rendered = {}
        for name in names:
            origin, copy = self.root / name, self.tree / name
            if origin.is_symlink():
                if not copy.is_symlink():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.symlink_to(os.readlink(origin))
            elif by_file.get(name):
                text, spans = self.sources[name].render(by_file[name])
                self.rendered[str(copy)] = (text, [0] + [x.end() for x in re.finditer('\n', text)], spans)
                write_if_changed(copy, f'#include "{runtime}"\n#line 1 "{copy}"\n{text}')
            elif origin.is_file():
                write_if_changed(copy, origin.read_bytes())
                if os.access(origin, os.X_OK):
                    copy.chmod(0o755)

    def configure(self):
        if (self.build / 'CMakeCache.txt').exists():
            return
        say('cmake')
        cache = self.root / 'build/release/CMakeCache.txt'  # which names the Kokkos that ./bootstrap test has built
        kokkos = re.findall(r'^Kokkos_DIR:PATH=(.+)', cache.read_text(), re.M) if cache.exists() else []
        subprocess.run(['cmake', *self.options.cmake.split(), *(f'-DKokkos_DIR={x}' for x in kokkos), '-B', self.build, '-DCMAKE_CXX_FLAGS=-w'],
                       cwd=self.tree, check=True, stdout=subprocess.DEVNULL)

    def compile(self):
        """Builds the libraries, then the tests; leaves out mutants that do not compile and builds again."""
        start, attempt = time.time(), 0
        self.write_tree()
        self.configure()
        listed = subprocess.run(['ninja', '-C', self.build, '-t', 'targets', 'all'], capture_output=True, text=True, check=True).stdout
        linked = [line.split(':')[0] for line in listed.splitlines() if re.search('EXECUTABLE_LINKER|MODULE_LIBRARY_LINKER|SHARED_LIBRARY_LINKER', line)]
        # ctest names no command of a program that is not built. Tests may start each program that is no test.
        tests = [x for x in linked if not re.match('tests/|fuzz/|benchmarks/', x) or re.fullmatch(f'.*/({self.options.tests})_test', x)]
        inputs = subprocess.run(['ninja', '-C', self.build, '-t', 'inputs', *tests], capture_output=True, text=True).stdout.splitlines()
        libraries = [x for x in inputs if re.fullmatch(r'lib[^/]*\.a', x)]
        for targets in (libraries, tests):  # most errors are in libraries, on which all tests depend
            if not targets:
                continue
            while True:
                attempt += 1
                log = self.work / f'build_{attempt}.log'
                with open(log, 'w') as file:
                    done = subprocess.run(['ninja', '-C', self.build, '-k', '0', '-j', str(self.options.compile_jobs), *targets],
                                          stdout=file, stderr=subprocess.STDOUT)
                if done.returncode == 0:
                    break
                dropped = self.blame(log.read_text(errors='replace'))
                say(f'round {attempt}: {len(dropped)} mutants do not compile ({time.time() - start:.0f} s)')
                if not dropped:
                    sys.exit(f'the build fails, but not because of mutants: see {log}')
                self.dropped.update(dropped)
                (self.work / 'not_compiling.json').write_text(json.dumps(self.dropped, indent=0))
                self.write_tree()
        say(f'built in {time.time() - start:.0f} s, {len(self.alive())} mutants compile')

    def blame(self, output):
        """Returns {key: message} of the mutants that errors of the compiler point to."""
        by_id, blamed, group = {m.id: m for m in self.mutants}, {}, []

        def finish():
            if not any(': error:' in line or ': fatal error:' in line for line in group):
                return
            message = next(line for line in group if 'error:' in line)
            # The place of the error itself comes first, then where it was declared or instantiated.
            for exact in (True, False):
                for line in [message] + group:
                    found = self.mutants_at(LOCATION.match(line), exact)
                    if found:
                        blamed.update({by_id[i].key: message[-200:] for i in found})
                        return

        for line in output.splitlines():
            if ': error:' in line or 'In instantiation of' in line or ' In function ' in line or line.startswith('['):
                if ': error:' in line and not any(': error:' in x for x in group):
                    group.append(line)  # the lines before it say where it was instantiated
                    continue
                finish()
                group = []
            group.append(line)
        finish()
        return blamed

    def mutants_at(self, location, exact):
        if not location or location[1] not in self.rendered:
            return []
        text, lines, spans = self.rendered[location[1]]
        line, column = int(location[2]), int(location[3] or 0)
        if line > len(lines):
            return []
        start, end = lines[line - 1], lines[line] if line < len(lines) else len(text)
        position = start + column - 1
        around = [s for s in spans if s[0] <= position < s[1]] if column else []
        if around:
            return [min(around, key=lambda s: s[1] - s[0])[2]]
        return [] if exact else [s[2] for s in spans if s[0] < end and s[1] > start]

    # ---- tests

    def tests(self):
        """Returns the tests of ctest that are built: programs of doctest, and others if --scripts is given."""
        listed = json.loads(subprocess.run(['ctest', '--show-only=json-v1'], cwd=self.build, capture_output=True, check=True).stdout)
        result = []
        for test in listed['tests']:
            command = test.get('command', [])
            is_doctest = bool(command) and command[0].endswith('_test') and not any('--test-case' in w for w in command)
            wanted = self.options.tests if is_doctest else self.options.scripts
            if not command or not os.path.exists(command[0]) or not is_doctest and not wanted:
                continue
            properties = {p['name']: p['value'] for p in test.get('properties', [])}
            environment = dict(x.split('=', 1) for x in properties.get('ENVIRONMENT', []))
            for change in properties.get('ENVIRONMENT_MODIFICATION', []):
                name, _, value = change.partition('=')
                if value.startswith('set:'):
                    environment[name] = value[4:]
            result.append({'name': test['name'], 'command': command, 'environment': environment, 'doctest': is_doctest,
                           'selected': bool(wanted) and bool(re.fullmatch(wanted, test['name']))})
        return result
