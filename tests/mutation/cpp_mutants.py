"""Finds the mutants of C++ sources, samples them, and writes all chosen ones into one text.

What does not compile is found by the compiler and left out (mutated_copy.py).
"""
import bisect
import hashlib
import re

from cpp_source import ASSIGNMENTS, CLOSING, CONTROL, PRECEDENCE, STOPS, Source

NOT_A_CALL = CONTROL | {'return', 'throw', 'else', 'do', 'case', 'new', 'delete', 'using', 'static', 'const', 'constexpr', 'auto', 'goto',
                        'default', 'break', 'continue', 'typedef', 'struct', 'class', 'enum', 'union', 'template', 'static_assert', 'try',
                        'namespace', 'friend', 'public', 'private', 'protected', 'extern', 'co_return', 'co_await', 'co_yield'}
# Pairs of names that a programmer confuses: one replaces the other.
FREE_TWINS = {'min': 'max', 'max': 'min', 'min_element': 'max_element', 'max_element': 'min_element', 'lower_bound': 'upper_bound',
              'upper_bound': 'lower_bound', 'floor': 'ceil', 'ceil': 'floor', 'any_of': 'all_of', 'all_of': 'any_of'}
MEMBER_TWINS = {'front': 'back', 'back': 'front', 'begin': 'end', 'end': 'begin', 'first': 'second', 'second': 'first',
                'row': 'column', 'column': 'row', 'rows': 'columns', 'columns': 'rows'}
SYMMETRIC = {'min', 'max', 'swap', 'gcd', 'lcm', 'hypot'}  # functions whose arguments have no order
ARITHMETIC = r'(std :: )?(u?int\d*(_t)?|size_t|ptrdiff_t|double|float|bool|Index|Offset|long|unsigned|char)'
BINARY_SWAPS = {'<': ['<=', '>'], '<=': ['<', '>'], '>': ['>=', '<'], '>=': ['>', '<'], '==': ['!='], '!=': ['=='], '+': ['-'],
                '-': ['+'], '*': ['/'], '/': ['*'], '%': ['*'], '&': ['|'], '|': ['&'], '&&': ['||'], '||': ['&&']}
OPERATOR_CLASS = {**{o: 'relation' for o in ('<', '<=', '>', '>=', '==', '!=')}, **{o: 'arithmetic' for o in '+-*/%&|'},
                  '&&': 'logic', '||': 'logic'}


class Mutant:
    """One change: `text` replaces the characters from start to end, in the way that `kind` names (see Source.render)."""

    def __init__(self, source, start, end, kind, operator, text, shown):
        self.start, self.end, self.kind, self.operator, self.text = start, end, kind, operator, text
        self.file, self.id, self.users, self.seeds = source.name, 0, [], []
        self.line = source.line_of(start)
        self.function, self.constant = source.place_of(start)
        # Whole lines, so that a reader recognises the place and the key does not depend on line numbers.
        first, last = source.text.rfind('\n', 0, start) + 1, source.text.find('\n', end - 1)
        last = len(source.text) if last < 0 else last
        squeeze = lambda text: ' '.join(re.sub(r'//[^\n]*', '', text).split())
        before, after = squeeze(source.text[first:start] + '\1'), squeeze('\1' + source.text[end:last])
        whole = lambda text: (before + text + after).replace('\1', '')
        self.original, self.mutant = whole(squeeze(source.text[start:end])), whole(shown)

    def name_with(self, count):
        """Sets the key, which is the same in all runs: it depends on file, function, normalised text and the number of equal mutants before."""
        parts = (self.file, self.function, self.original, self.mutant, str(count))
        self.key = hashlib.sha1('\0'.join(parts).encode()).hexdigest()[:12]


class MutableSource(Source):
    """A source with the mutants that were found in it."""

    def __init__(self, name, text):
        super().__init__(name, text)
        self.mutants = []

    def add(self, first, last, kind, operator, text='', shown=None):
        start, end = self.start[first], self.end[last]
        if any(self.masked[first:last + 1]) and (self.masked[first] or self.masked[last]):
            return
        if any(start <= d < end for d in self.directives) or any('\n' in self.tok[i] for i in range(first, last + 1)):
            return
        self.mutants.append(Mutant(self, start, end, kind, operator, text, text if shown is None else shown))

    def find(self):
        for i in range(1, len(self.tok) - 1):
            if self.masked[i]:
                continue
            if self.in_code(i):
                self.at_operator(i)
                self.at_name(i)
                self.at_literal(i)
                self.at_condition(i)
                if self.starts_statement(i):
                    self.at_statement(i)
            elif self.scope.get(self.inner[i]) == 'class' and self.tok[i - 1] == '=' and self.tok[i + 1] == ';':
                count = len(self.mutants)
                self.at_literal(i)
                for m in self.mutants[count:]:
                    m.operator = 'member default'
        self.find_named_constants()
        counts = {}
        for mutant in self.mutants:
            what = (mutant.function, mutant.original, mutant.mutant)
            counts[what] = counts.get(what, 0) + 1
            mutant.name_with(counts[what])
        return self.mutants

    def at_operator(self, i):
        t = self.tok[i]
        if t in BINARY_SWAPS and self.is_binary(i):
            first, last = self.left(i, PRECEDENCE[t]), self.right(i, PRECEDENCE[t])
            if OPERATOR_CLASS[t] == 'arithmetic' and any(k == 'string' for k in self.kind[first:last + 1]):
                return  # texts and paths
            for other in BINARY_SWAPS[t]:
                self.add(first, last, 'choice', OPERATOR_CLASS[t], self.clean(first, last, [(i, other)]))
            if t in ('&&', '||'):
                for a, b in ((first, i - 1), (i + 1, last)):
                    self.add(first, last, 'choice', 'logic', 'static_cast<bool>(' + self.clean(a, b) + ')', self.clean(a, b))
        elif t in ('+=', '-=', '*=', '/='):
            first, last = self.left(i, 3), self.end_of_assignment(i)
            if not any(k == 'string' for k in self.kind[i:last + 1]):
                other = {'+=': '-=', '-=': '+=', '*=': '/=', '/=': '*='}[t]
                self.add(first, last, 'choice', 'arithmetic', self.clean(first, last, [(i, other)]))
        elif t == '?' and self.spaced(i):
            self.add(self.left(i, 4), i - 1, 'not', 'branches of ?:', '', '!(' + self.clean(self.left(i, 4), i - 1) + ')')
        elif t == '!' and self.kind[i + 1] == 'name':
            last = i + 1
            while self.tok[last + 1] in ('.', '->', '::', '(', '[') or last + 1 in self.angle:
                last = self.match[last + 1] if last + 1 in self.match else last + 2
            self.add(i, last, 'not', 'negation', '', self.clean(i + 1, last))

    def at_name(self, i):
        t, following = self.tok[i], self.tok[i + 1]
        if self.kind[i] != 'name':
            return
        called = following == '(' and i + 1 in self.match
        member = self.tok[i - 1] in ('.', '->')
        if t in FREE_TWINS and not member and (called or following == '<'):
            paren = i + 1 if called else self.match.get(i + 1, i) + 1
            if self.tok[paren] == '(':
                first = self.chain_start(i)
                self.add(first, self.match[paren], 'choice', 'min/max', self.clean(first, self.match[paren], [(i, FREE_TWINS[t])]))
        if t in MEMBER_TWINS and member and following not in ASSIGNMENTS:
            first, last = self.chain_start(i), self.match[i + 1] if called else i
            self.add(first, last, 'choice', 'first/last', self.clean(first, last, [(i, MEMBER_TWINS[t])]))
        if t in ('true', 'false'):
            other = 'false' if t == 'true' else 'true'
            self.add(i, i, 'choice', 'literal', other)
        if called and t not in NOT_A_CALL | SYMMETRIC and t not in ('sizeof', 'assert') and not t.isupper():
            first = self.chain_start(i)
            declares = first > 0 and (self.kind[first - 1] == 'name' and self.tok[first - 1] not in STOPS or first - 1 in self.angle or
                                      self.tok[first - 1] in ('*', '&', '~') and not self.spaced(first - 1))
            arguments = self.arguments(i + 1)
            simple = [b - a < 6 and all(self.kind[k] != 'symbol' or self.tok[k] in ('.', '->', '::', '[', ']') for k in range(a, b + 1))
                      and self.kind[a] in ('name', 'number') for a, b in arguments]
            for k in range(len(arguments) - 1):
                (a, b), (c, d) = arguments[k], arguments[k + 1]
                types = self.type_of(a, b), self.type_of(c, d)
                alike = types[0] == types[1] or all(re.fullmatch(ARITHMETIC, t) for t in types)
                if not declares and simple[k] and simple[k + 1] and alike and self.kind[a] == self.kind[c] and self.clean(a, b) != self.clean(c, d):
                    text = self.clean(first, a - 1) + ' ' * (self.tok[a - 1] == ',') + self.clean(c, d) + ', ' + self.clean(a, b) + self.clean(d + 1, self.match[i + 1])
                    self.add(first, self.match[i + 1], 'choice', 'arguments', text)

    def at_literal(self, i):
        t = self.tok[i]
        if self.kind[i] == 'name' and t in ('true', 'false') and not self.in_code(i):
            self.add(i, i, 'choice', 'literal', 'false' if t == 'true' else 'true')
        integer = re.fullmatch(r"(\d[\d']*)([uUlLzZ]*)", t)
        if self.kind[i] != 'number':
            return
        if integer and (t[0] != '0' or len(integer[1]) == 1):
            value = int(integer[1].replace("'", ''))
            for other in [value + 1] + ([value - 1] if value > 0 else []):
                self.add(i, i, 'choice', 'literal', str(other) + integer[2])
        elif re.fullmatch(r'[\d.]+(e[+-]?\d+)?f?', t):
            self.add(i, i, 'choice', 'literal', '1.0' if float(t.rstrip('f')) == 0 else t + ' * 2')

    def at_condition(self, i):
        if self.tok[i] not in ('if', 'while', 'for') or self.tok[i + 1] != '(' or i + 1 not in self.match:
            return
        parts, last = [i + 2], self.match[i + 1] - 1
        j = i + 2
        while j <= last:
            if self.tok[j] == ';':
                parts.append(j + 1)
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        if self.tok[i] == 'for':
            if len(parts) == 3 and parts[2] - 2 >= parts[1]:
                self.add(parts[1], parts[2] - 2, 'and', 'condition', 'false')
            return
        first, j = parts[-1], parts[-1]
        while j <= last:
            if self.tok[j] == '=':
                return  # declares a variable
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        if first > last:
            return
        self.add(first, last, 'and', 'condition', 'false')
        if self.tok[i] == 'if':
            self.add(first, last, 'or', 'condition', 'true')
            self.add(first, last, 'not', 'condition', '', '!(' + self.clean(first, last) + ')')

    def starts_statement(self, i):
        around, before = self.inner[i], self.tok[i - 1]
        if around < 0 or self.tok[around] != '{' or self.scope.get(around) not in ('function', 'lambda', 'block'):
            return False
        if before == ')' and i - 1 in self.match:
            return self.tok[self.match[i - 1] - 1] in CONTROL
        if before == '}':
            return self.scope.get(self.match.get(i - 1)) == 'block'
        if before == ':':  # of a label
            return bool(self.masked[i - 1]) or self.tok[i - 2] == 'default'
        return before in (';', '{', 'else', 'do')

    def at_statement(self, i):
        t, last = self.tok[i], i
        while last < len(self.tok) and self.tok[last] != ';':
            if self.tok[last] in CLOSING:
                return
            last = self.match[last] + 1 if last in self.match and self.match[last] > last else last + 1
        if t in ('break', 'continue', 'throw'):
            self.add(i, last, 'delete', 'statement' if t == 'throw' else 'break/continue', '', ';')
        elif t == 'return' and last > i + 1:
            value = self.clean(i + 1, last - 1)
            if value not in ('false', '0', 'nullptr', '""', '{}', 'std::nullopt', 'true', 'std::string()', '*this'):
                inner, enclosing = self.inner[i], []
                while inner >= 0:
                    enclosing.append(inner)
                    inner = self.inner[inner]
                body = next(k for k in enclosing if self.scope.get(k) in ('function', 'lambda'))
                if self.scope[body] == 'function' and body not in self.without_default:
                    self.add(i, last, 'replace', 'return', 'return {};')
        elif t not in NOT_A_CALL and (self.kind[i] == 'name' or t in ('*', '++', '--', '::')):
            j, ended_with_call = i + (t in ('*', '++', '--', '::')), False
            while j < last:
                if self.kind[j] == 'name' and (j == i or self.tok[j - 1] in ('::', '.', '->', '*', '++', '--', 'template')):
                    j, ended_with_call = j + 1, False
                elif self.tok[j] in ('(', '[') or j in self.angle and self.match[j] > j:
                    ended_with_call = self.tok[j] == '('
                    j = self.match[j] + 1
                elif self.tok[j] in ('.', '->', '::'):
                    j += 1
                else:
                    break
            if j == last and (ended_with_call or t in ('++', '--')) or self.tok[j] in ASSIGNMENTS | {'<<', '++', '--'}:
                self.add(i, last, 'delete', 'statement', '', ';')

    def find_named_constants(self):
        """constexpr variables with one literal become const variables of the program that is running."""
        pattern = re.compile(r'(?P<static>\bstatic )?\bconstexpr (?P<type>(?:std::)?\w+) (?P<name>\w+) = (?P<value>[\d.][\w.\']*);')
        for match in pattern.finditer(self.text):
            value = match['value']
            i = bisect.bisect_left(self.start, match.start())
            around = self.inner[i] if i < len(self.inner) else -1
            if self.name.endswith('.hpp') or around >= 0 and self.scope.get(around) == 'class':
                continue
            integer = re.fullmatch(r"\d[\d']*", value)
            other = str(int(value.replace("'", '')) + 1) if integer else value + ' * 2' if re.fullmatch(r'[\d.]+(e[+-]?\d+)?', value) else None
            if other is None or match.group() != self.text[match.start():match.end()]:
                continue
            whole = match.group()[:-len(value) - 1] + other + ';'
            mutant = Mutant(self, match.start(), match.end(), 'constant', 'literal', other, whole)
            mutant.declaration = f"{'' if around < 0 or self.scope.get(around) == 'namespace' else 'static '}const {match['type']} {match['name']} = "
            mutant.value, mutant.constant = value, False
            if not mutant.function:  # the tests that reach the functions that use it are the ones that reach it
                uses = re.compile(r'\b' + match['name'] + r'\b')
                mutant.users = sorted({f[2] for f in self.functions if uses.search(self.text, f[0], f[1])})
            self.mutants.append(mutant)

    # ---- The text with mutants.

    def render(self, chosen):
        """Returns the text with all chosen mutants, and [(start, end, id)] of each in that text."""
        chosen = sorted(chosen, key=lambda m: (m.start, -m.end))
        stack, kept = [], []
        for m in chosen:  # leave out what overlaps without being nested
            while stack and stack[-1].end <= m.start:
                stack.pop()
            if not stack or m.end <= stack[-1].end:
                stack.append(m)
                kept.append(m)
        text = self.render_range(0, len(self.text), kept)
        plain, spans, opened, length = [], [], {}, 0
        for part in re.split('(\1\\d+\3|\2\\d+\3)', text):
            if part[:1] == '\1':
                opened[int(part[1:-1])] = length
            elif part[:1] == '\2':
                spans.append((opened.pop(int(part[1:-1])), length, int(part[1:-1])))
            else:
                plain.append(part)
                length += len(part)
        return ''.join(plain), spans

    def render_range(self, start, end, mutants):
        parts, position, k = [], start, 0
        while k < len(mutants):
            m = mutants[k]
            same = [x for x in mutants[k:] if (x.start, x.end) == (m.start, m.end)]
            inside = [x for x in mutants[k:] if m.start <= x.start and x.end <= m.end and (x.start, x.end) != (m.start, m.end)]
            parts.append(self.text[position:m.start])
            inner = self.render_range(m.start, m.end, inside)
            order = ['choice', 'not', 'or', 'and', 'constant', 'replace', 'delete']
            for x in sorted(same, key=lambda x: order.index(x.kind)):
                inner = f'\1{x.id}\3{self.wrap(x, inner)}\2{x.id}\3'
            parts.append(inner)
            position, k = m.end, k + len(same) + len(inside)
        parts.append(self.text[position:end])
        return ''.join(parts)

    @staticmethod
    def wrap(m, inner):
        on = f"::mutants::{'on_at_run_time' if m.constant else 'on'}({m.id})"
        if m.kind == 'choice':
            return f'({on} ? ({m.text}) : ({inner}))'
        if m.kind == 'not':
            return f'({on} != static_cast<bool>({inner}))'
        if m.kind == 'or':
            return f'({on} || ({inner}))'
        if m.kind == 'and':
            return f'(!{on} && ({inner}))'
        if m.kind == 'constant':
            return f'{m.declaration}{on} ? {m.text} : {m.value};'
        if m.kind == 'replace':
            return f'{{ if ({on}) {m.text} {inner} }}'
        return f'{{ if (!{on}) {{ {inner} }} }}'  # delete


def sample(source, per_hundred_lines, seed, first_lines=()):
    """Chooses mutants of a file: first those of the given lines, then functions by their share of lines, within a function all operators
    alike, and otherwise by a hash, so that a change of one function leaves the mutants of the others as they are."""
    code_lines = len({source.line_of(p) for p in source.start})
    wanted = min(len(source.mutants), max(1, round(code_lines * per_hundred_lines / 100)))
    chance = lambda *words: hashlib.sha1('\0'.join((str(seed), source.name, *words)).encode()).digest()
    strata = {}
    for mutant in sorted(source.mutants, key=lambda m: chance(m.key)):
        strata.setdefault(mutant.function, []).append(mutant)
    order, size = {}, {}
    for function, mutants in strata.items():
        seen = {}  # how many mutants of this operator, or at this place, come before
        rank = {}
        for m in mutants:
            rank[m.key] = max(seen.get(m.operator, 0), 2 * seen.get(m.start, 0))
            seen[m.operator], seen[m.start] = seen.get(m.operator, 0) + 1, seen.get(m.start, 0) + 1
        order[function] = sorted(mutants, key=lambda m: (rank[m.key], chance(function, m.operator)))
        size[function] = sum(source.line_of(f[1] - 1) - source.line_of(f[0]) + 1 for f in source.functions if f[2] == function) or 2
        if function.startswith(('class ', 'struct ')):
            size[function] = len(mutants) / 4  # only the defaults of members can be mutated there
    counts, chosen = dict.fromkeys(strata, 0), []
    while len(chosen) < (len(source.mutants) if first_lines else wanted):
        function = max((f for f in strata if counts[f] < len(order[f])), key=lambda f: (size[f] / (counts[f] + 1), chance(f)))
        chosen.append(order[function][counts[function]])
        counts[function] += 1
    return sorted(chosen, key=lambda m: m.line not in first_lines)[:wanted]
