"""Runs test cases with a mutant, and records which mutants they reach without one."""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import threading
import time

from mutated_copy import say


def short(case):
    return hashlib.sha1(case.encode()).hexdigest()[:8]


class Runner:
    """Runs test cases with a mutant, each worker in folders of its own and, if started by root, as another user."""

    def __init__(self, project):
        self.project, self.options = project, project.options
        self.programs = {t['name']: t for t in project.tests()}
        self.workers = queue.Queue()
        self.user = {}
        if os.geteuid() == 0 and self.options.user:
            self.user = {'user': self.options.user, 'group': 'nogroup', 'extra_groups': []}
        for number in range(self.options.jobs):
            folder = project.work / f'worker_{number}'
            self.clear(folder)
            self.workers.put(folder)

    def clear(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        for name in ('tmp', 'home', 'cache'):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if self.user:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, self.user['user'])

    def run(self, program, cases, mutant, limit, folder, trace=None, more=()):
        """Returns (exit code or 'timeout', seconds, output). cases: names of doctest cases, or None for the whole program."""
        test = self.programs[program]
        command = list(test['command'])
        if cases is not None:
            command += ['--test-case=' + ','.join(re.sub(r'[,*?"\\]', '?', c) for c in cases), '--abort-after=1', '--no-colors=true', *more]
        environment = {**os.environ, **test['environment'], 'MUTANT': str(mutant), 'TMPDIR': str(folder / 'tmp'), 'HOME': str(folder / 'home'),
                       'XDG_CACHE_HOME': str(folder / 'cache')}
        if trace:
            environment['MUTANT_TRACE'] = str(trace)

        limits = f'ulimit -c 0; ulimit -f {4 << 20}' + (f'; ulimit -v {self.options.memory << 20}' if self.options.memory else '')
        start = time.time()
        with open(folder / 'output', 'w+', errors='replace') as output:
            process = subprocess.Popen(['sh', '-c', limits + '; export MUTANT_RUN=$$; exec "$0" "$@"', *command], stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, cwd=folder / 'tmp', env=environment, start_new_session=True, **self.user)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = 'timeout'
            self.kill_rest(process)
            seconds = time.time() - start
            output.seek(max(0, output.seek(0, 2) - 200000))
            text = output.read()
        return status, seconds, text

    @staticmethod
    def kill_rest(process):
        """Kills a process and all that it started, also those in sessions of their own: they have its number in their environment."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        for environment in pathlib.Path('/proc').glob('[0-9]*/environ'):
            try:
                if f'MUTANT_RUN={process.pid}\0'.encode() in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)
            except (OSError, ValueError):
                pass

    # ---- trace

    def stamp(self, program):
        """Returns what changes when a program is linked again; its cases are then traced again."""
        state = os.stat(self.programs[program]['command'][0])
        return f'{state.st_size} {state.st_mtime_ns}'

    def trace(self):
        """Returns {case: {program, name, seconds, reached}}; a case is "program: name"."""
        file = self.project.work / 'trace.jsonl'
        known = {}
        if file.exists():
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            known = {x['case']: x for x in lines if x['program'] in self.programs and x['stamp'] == self.stamp(x['program'])}
        folder = self.workers.get()
        cases = []
        for name, test in self.programs.items():
            if not test['selected']:
                continue
            if not test['doctest']:
                cases.append((name, None))
                continue
            status, _, text = self.run(name, [], 0, 60, folder, more=['--list-test-cases'])
            names = [x for x in text.splitlines() if x and not x.startswith(('[doctest]', '====='))]
            cases += [(name, x) for x in dict.fromkeys(names)]
        self.workers.put(folder)
        start, lock = time.time(), threading.Lock()
        with open(file, 'a') as log, concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            def one(case):
                program, name = case
                title = f'{program}: {name or ""}'
                if title in known:
                    return
                folder = self.workers.get()
                reached_file = folder / 'reached'
                reached_file.write_bytes(bytes(self.project.most + 1))
                reached_file.chmod(0o666)
                status, seconds, text = self.run(program, None if name is None else [name], -1, self.options.longest, folder, reached_file)
                reached = [i for i, byte in enumerate(reached_file.read_bytes()) if byte]
                ran = name is None or re.search(r'test cases:\s*[1-9]', text)
                entry = {'case': title, 'program': program, 'name': name, 'seconds': round(seconds, 3), 'reached': reached,
                         'passes': status == 0 and bool(ran), 'stamp': self.stamp(program)}
                if not entry['passes']:
                    say(f'left out, since it fails without a mutant (exit code {status}): {title}\n{text[-600:]}')
                self.clear(folder)
                self.workers.put(folder)
                with lock:
                    known[title] = entry
                    print(json.dumps(entry), file=log, flush=True)
            list(pool.map(one, cases))
        known = {k: v for k, v in known.items() if v['passes']}
        now = [known[title] for p, n in cases if (title := f'{p}: {n or ""}') in known]
        say(f'traced {len(now)} of {len(cases)} cases, which take {sum(x["seconds"] for x in now):.0f} s, in {time.time() - start:.0f} s')
        return known

    # ---- run

    def run_all(self, trace):
        reaching = collections.defaultdict(list)
        for case in trace.values():
            for number in case['reached']:
                reaching[number].append(case)
        functions = collections.defaultdict(dict)  # (file, function) -> cases that reach it
        for m in self.project.alive():
            functions[m.file, m.function].update({c['case']: c for c in reaching[m.id]})
        for m in self.project.alive():
            if m.users:  # a constant of a file, which every process reaches
                found = {k: c for user in m.users for k, c in functions.get((m.file, user), {}).items()}
                reaching[m.id] = list(found.values())
        self.reaching = reaching
        file = self.project.work / 'results.jsonl'
        self.results = {x['key']: x for x in map(json.loads, file.read_text().splitlines())} if file.exists() else {}
        self.kills = collections.Counter()
        todo = [m for m in self.project.alive() if self.new_cases(m)]
        say(f'{len(todo)} mutants to run')
        start, lock, done, deadline = time.time(), threading.Lock(), [0], self.options.started + self.options.minutes * 60
        with open(file, 'a') as log, concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            def one(m):
                if time.time() > deadline:
                    return
                folder = self.workers.get()
                try:
                    result = self.try_mutant(m, self.new_cases(m), folder)
                finally:
                    self.clear(folder)
                    self.workers.put(folder)
                with lock:
                    self.results[m.key] = result
                    print(json.dumps(result), file=log, flush=True)
                    done[0] += 1
                    if done[0] % 50 == 0:
                        say(f'{done[0]} of {len(todo)} mutants in {time.time() - start:.0f} s')
            for future in [pool.submit(one, m) for m in sorted(todo, key=lambda m: m.rank)]:
                future.result()
        say(f'ran {done[0]} mutants in {time.time() - start:.0f} s')

    def new_cases(self, m):
        """Returns the cases that reach a mutant and have not run with it; none if it was noticed."""
        earlier = self.results.get(m.key)
        cases = [c for c in self.reaching[m.id] if self.programs[c['program']]['selected']]
        if earlier is None or earlier['status'] == 'survived' and self.options.again:
            return cases
        ran = set(earlier.get('ran', ()))
        return [] if earlier['status'] == 'noticed' else [c for c in cases if short(c['case']) not in ran]

    def try_mutant(self, m, cases, folder):
        """Runs cases in groups of 1, 3, 9, ...: first those that noticed other mutants of the function or file, then the fastest."""
        weight = lambda c: 1 + 5 * self.kills[m.file, m.function, c['case']] + self.kills[m.file, c['case']]
        left = sorted(cases, key=lambda c: (c['seconds'] + 0.02) / weight(c))
        earlier = {} if self.options.again else self.results.get(m.key, {})
        result = {'key': m.key, 'status': 'survived', 'by': '', 'how': '', 'ran': list(earlier.get('ran', ()))}
        start, normal, size = time.time(), 0.0, 1
        while left and normal <= self.options.patience:
            while size > 1 and normal + sum(c['seconds'] for c in left[:size]) > self.options.patience:
                size -= 1
            group, left, size = left[:size], left[size:], size * 3
            for program in dict.fromkeys(c['program'] for c in group):
                chosen = [c for c in group if c['program'] == program]
                usual = sum(c['seconds'] for c in chosen)
                names = None if chosen[0]['name'] is None else [c['name'] for c in chosen]
                status, _, text = self.run(program, names, m.id, 3 * usual + 2, folder)
                if status == 'timeout':  # unless the machine was busy
                    self.clear(folder)
                    status, _, text = self.run(program, names, m.id, 8 * usual + 8, folder)
                normal += usual
                result['ran'] += [short(c['case']) for c in chosen]
                if status != 0:
                    failed = re.findall(r'^TEST CASE:\s+(.*)', text, re.M)
                    by = next((c for c in chosen if failed and c['name'] == failed[-1].strip()), chosen[0])
                    result.update(status='noticed', by=by['case'], seconds=round(time.time() - start, 2),
                                  how='time-out' if status == 'timeout' else 'crash' if status < 0 or 'FATAL ERROR: test case CRASHED' in text else 'test')
                    self.kills[m.file, m.function, by['case']] += 1
                    self.kills[m.file, by['case']] += 1
                    return result
        result['seconds'] = round(time.time() - start, 2)
        return result
