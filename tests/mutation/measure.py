#!/usr/bin/env python3
"""Measures how many small faults the tests notice: mutation testing with one build for all mutants.

  tests/mutation/measure [options] FOLDER_OR_FILE...        (in the root of the project)

A fault is called a mutant; a mutant that no test notices is a survivor. Each survivor is a line that nobody needs, a behaviour that
no test checks, or a mutant that changes no behaviour (equivalent.tsv). Steps, each of which continues where an earlier run stopped:
  plan    finds mutants in the given sources and samples them
  build   writes them into a copy of the project, builds the tests there, and leaves out what does not compile
  trace   runs each test case once and records which mutants it reaches
  run     runs, for each mutant, the cases that reach it, until one fails
  report  prints tables, and writes them with all survivors to the folder of results

The copy contains all mutants, as `(::mutants::on(17) ? (a <= b) : (a < b))`; the environment variable MUTANT chooses one when a process
starts. A case that fails without a mutant is left out. After new tests, the same command runs survivors with the new cases only.
Mutants may delete files and kill processes: root runs the tests as `nobody`, who must be able to read the copy; other users should
own nothing important, or use a container. Not mutated: device code, macros, constants of headers, template arguments, texts.
"""
import argparse
import pathlib
import sys
import time

sys.dont_write_bytecode = True
from case_runner import Runner  # noqa: E402
from mutated_copy import Project  # noqa: E402
from tables import report  # noqa: E402


def parser():
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = result.add_argument
    add('paths', nargs='+', help='folders or files with the sources to mutate, relative to --root')
    add('--root', type=pathlib.Path, default=pathlib.Path('.'), help='the project (default: the current folder); it is only read')
    add('--work', type=pathlib.Path, default=pathlib.Path('build/mutation'), help='what this program keeps (default: build/mutation)')
    add('--tree', type=pathlib.Path, help='the copy of the project with mutants (default: WORK/tree)')
    add('--build', type=pathlib.Path, help='its build folder, configured if it is not (default: TREE/build/mutants)')
    add('--results', type=pathlib.Path, default=pathlib.Path('build/mutation/results'), help='where the tables go')
    add('--cmake', default='--preset release -DWORKBENCH_CHECK_ONLY=ON -DWORKBENCH_CUDA=OFF', help='arguments of cmake (default: %(default)s)')
    add('--until', choices=['plan', 'build', 'trace', 'run'], default='run', help='the last step; the report follows run')
    add('--per-hundred-lines', type=float, default=3, help='mutants per hundred lines of code (default: 3)')
    add('--seed', default='1', help='another seed chooses other mutants; several, as "7,8", are built together and reported apart')
    add('--recursive', action='store_true', help='also the subfolders of folders')
    add('--exclude', default=r'\.cuh$|/no_cuda/|/vendor/|/cusparse\.cpp$', help='sources to leave out, a regular expression (default: %(default)s)')
    add('--without', default='member default', help='operators to leave out, a regular expression (default: %(default)s: most are overwritten)')
    add('--tests', default='.*', help='the doctest programs to run, by their names in ctest, a regular expression (default: all)')
    add('--scripts', default='', help='other tests to run, as "docs|lessons"; each counts as one case (default: none)')
    add('--jobs', type=int, default=2, help='mutants that run at a time (default: 2)')
    add('--compile-jobs', type=int, default=2, help='compilations at a time (default: 2)')
    add('--patience', type=float, default=120, help='no more cases once those that ran take this many seconds without a mutant (default: 120)')
    add('--longest', type=float, default=300, help='a case that takes more seconds without a mutant is left out (default: 300)')
    add('--minutes', type=float, default=1e9, help='start no mutant after this time, which includes the build; the next run continues')
    add('--again', action='store_true', help='run survivors again with all cases (default: with cases that are new)')
    add('--memory', type=int, default=8, help='GB of address space of a test; 0 for builds with sanitizers (default: 8)')
    add('--user', default='nobody', help='who runs the tests if root starts this: mutants may delete files and kill processes')
    add('--equivalents', type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / 'equivalent.tsv',
        help='the list of mutants that change no behaviour (default: %(default)s)')
    result.set_defaults(started=time.time())
    return result


def measure(options, first_lines=None):
    """Runs the steps; returns the mutants that survived."""
    project = Project(options, first_lines)
    project.plan()
    if options.until == 'plan':
        for m in project.mutants:
            print(f'{m.file}:{m.line}\t{m.function}\t{m.operator}\t{m.original}\t{m.mutant}')
        return []
    project.compile()
    if options.until == 'build':
        return []
    runner = Runner(project)
    trace = runner.trace()
    if options.until == 'trace':
        return []
    runner.run_all(trace)
    report(project, runner)
    return [m for m in project.mutants if runner.results.get(m.key, {}).get('status') == 'survived']


if __name__ == '__main__':
    measure(parser().parse_args())
