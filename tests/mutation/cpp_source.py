"""Splits C++ source text into tokens, and finds its brackets, functions and expressions, and what must stay a constant.

No compiler is needed, so that templates and headers are as easy as everything else. The result is right for code that clang-format
wrote: binary operators have a space on both sides, the brackets of template arguments have none before them.
"""
import bisect
import re

TOKEN = re.compile(r'''
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>(?m:^)[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:'[0-9a-zA-Z]|[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<symbol><=>|<<=|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=(?=\s)|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.X | re.S)

PRECEDENCE = {'*': 14, '/': 14, '%': 14, '+': 13, '-': 13, '<<': 12, '>>': 12, '<=>': 11, '<': 10, '<=': 10, '>': 10, '>=': 10,
              '==': 9, '!=': 9, '&': 8, '^': 7, '|': 6, '&&': 5, '||': 4}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
CLOSING = {')': '(', ']': '[', '}': '{'}
CONTROL = {'if', 'for', 'while', 'switch', 'catch'}
STOPS = {',', ';', '?', ':', 'return', 'throw', 'else', 'do', 'case', 'co_return', 'co_yield'} | ASSIGNMENTS
# Calls that only make the program faster: to change them changes no result.
WITHOUT_EFFECT = re.compile(r'reserve|shrink_to_fit|\w*prefetch\w*')


class Source:
    """The tokens of one file with their brackets and functions, and the mutants that were found."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.line_starts = [0] + [m.end() for m in re.finditer('\n', text)]
        self.kind, self.tok, self.start, self.end, self.directives = [], [], [], [], []
        for match in TOKEN.finditer(text):
            kind = match.lastgroup if match.lastgroup != 'delimiter' else 'string'
            if kind == 'directive':
                self.directives.append(match.start())
            elif kind != 'space':
                self.kind.append(kind), self.tok.append(match.group()), self.start.append(match.start()), self.end.append(match.end())
        self.match_brackets()
        self.find_scopes()
        self.mask_constants()

    # ---- Structure.

    def line_of(self, position):
        return bisect.bisect_right(self.line_starts, position)

    def spaced(self, i):
        """Returns true if there is space on both sides of token i, so that it is a binary operator."""
        return 0 < i < len(self.tok) - 1 and self.end[i - 1] < self.start[i] and self.end[i] < self.start[i + 1]

    def match_brackets(self):
        tok, self.match, stack = self.tok, {}, []
        self.inner = []  # the innermost open bracket around each token, or -1
        for i, t in enumerate(tok):
            if t in CLOSING and stack and tok[stack[-1]] == CLOSING[t]:
                j = stack.pop()
                self.match[i], self.match[j] = j, i
            self.inner.append(stack[-1] if stack else -1)
            if t in ('(', '[', '{'):
                stack.append(i)
        self.angle = set()
        for i, t in enumerate(tok):
            opens = t == '<' and i > 0 and (tok[i - 1] == 'template' or (self.end[i - 1] == self.start[i] and tok[i - 1] != 'operator'
                                                                        and (self.kind[i - 1] == 'name' or tok[i - 1] == ']')))
            if opens and i not in self.match:
                self.match_angle(i)

    def match_angle(self, i):
        tok, stack, j = self.tok, [i], i + 1
        while j < len(tok):
            t = tok[j]
            if t in ('(', '[', '{'):
                j = self.match.get(j, len(tok))
            elif t == '<' and not self.spaced(j):
                stack.append(j)
            elif t == '>' and not (self.spaced(j) and len(stack) == 1 and tok[i - 1] != 'template'):
                k = stack.pop()
                self.match[j], self.match[k] = k, j
                self.angle.update((j, k))
                if not stack:
                    return
            elif t in (';', ')', ']', '}'):
                return
            j += 1

    def head_of(self, i):
        """Returns the first token of what the brace i belongs to: after the last ; { or } on its level."""
        j = i - 1
        while j >= 0 and self.tok[j] not in (';', '{', '(', '['):
            if self.tok[j] == '}' and self.scope.get(self.match.get(j), 'block') != 'init':
                break
            if self.tok[j] == ':' and self.tok[j - 1] in ('public', 'private', 'protected'):
                break
            j = self.match[j] - 1 if self.tok[j] in CLOSING and j in self.match else j - 1
        return j + 1

    def find_scopes(self):
        """Classifies each brace: namespace, class, enum, function, lambda, block or init; remembers the names of functions."""
        tok, self.scope, self.functions, self.without_default, stack = self.tok, {}, [], set(), []
        for i, t in enumerate(tok):
            if t == '}' and i in self.match and stack:
                stack.pop()
            if t != '{' or i not in self.match:
                continue
            in_code = bool(stack) and self.scope[stack[-1]] in ('function', 'lambda', 'block')
            self.scope[i] = self.classify(i, in_code)
            if self.scope[i] == 'function':
                head = self.head_of(i)
                constant = any(x in ('constexpr', 'consteval') for x in tok[head:i])
                name = self.name_of(head, i)
                self.functions.append((self.start[i], self.end[self.match[i]], name, constant))
                k = head  # the type before the name
                while k < i and self.tok[k] not in (name, name.split('::')[0], 'operator'):
                    k = self.match[k] + 1 if k in self.angle and self.match[k] > k else k + 1
                if tok[k - 1] == '&' or tok[k - 1] == 'auto' and '->' not in tok[k:i]:
                    self.without_default.add(i)
            elif self.scope[i] == 'class' and not in_code:
                head = [x for x in tok[self.head_of(i):i] if re.match(r'\w', x)]
                keyword = max(head.index(x) for x in ('class', 'struct', 'union') if x in head)
                self.functions.append((self.start[i], self.end[self.match[i]], ' '.join(head[keyword:keyword + 2]), True))
            stack.append(i)

    def classify(self, i, in_code):
        tok, p = self.tok, i - 1
        head = self.head_of(i)
        outside, j = [], head  # the tokens of the head, without what is in brackets
        while j < i:
            outside.append(tok[j])
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        if tok[p] in ('else', 'do', 'try', ';', '{', ':') or (in_code and tok[p] == '}'):
            return 'block' if in_code else 'init'
        if 'namespace' in outside or 'extern' in outside[:1] and self.kind[p] == 'string':
            return 'namespace'
        if 'enum' in outside:
            return 'enum'
        if any(x in outside for x in ('class', 'struct', 'union')) and '(' not in outside and '=' not in outside:
            return 'class'
        q = p
        while q > head and (self.kind[q] == 'name' or tok[q] in ('::', '*', '&', '&&', '>')) and tok[q] != 'return':
            q = self.match[q] - 1 if q in self.angle else q - 1  # over const, noexcept, mutable and a trailing type
        if tok[q] == '->':
            q -= 1
            while tok[q] in ('mutable', 'noexcept', 'const', 'constexpr'):
                q -= 1
        elif q != p and any(x not in ('const', 'noexcept', 'override', 'final', 'mutable', 'constexpr', '&', '&&') for x in tok[q + 1:p + 1]):
            return 'init'
        if tok[q] == ']':
            return 'lambda'
        if tok[q] == ')' and q in self.match:
            before = self.match[q] - 1
            if tok[before] in CONTROL or tok[before] == 'constexpr':
                return 'block'
            if tok[before] == ']' or (before in self.angle and tok[self.match[before] - 1] == ']'):
                return 'lambda'
            return 'init' if in_code else 'function'
        return 'function' if tok[q] == '}' and not in_code and '(' in outside else 'init'

    def name_of(self, head, brace):
        j = head
        while j < brace and (self.tok[j] != '(' or self.tok[j - 1] == 'operator'):
            j = self.match[j] + 1 if j in self.angle and self.match[j] > j else j + 1
        name, k = '', j - 1
        if self.tok[k - 2] == 'operator':
            name, k = 'operator()', k - 3
        while k >= head:
            t = self.tok[k]
            if k in self.angle and (not name or name.startswith('::')):
                k = self.match[k] - 1  # a template's arguments
            elif t in ('::', '~') or self.tok[k - 1] == 'operator' or self.kind[k] == 'name' and not re.match(r'\w', name):
                name, k = t + name, k - 1
            elif t == 'operator':
                name, k = t + ('' if re.match(r'\W', name) else ' ') + name, k - 1
            else:
                break
        return name

    def place_of(self, position):
        """Returns the outermost function around a position, with "struct NAME" for a member outside functions, and whether it is constexpr."""
        around = [f for f in self.functions if f[0] <= position < f[1]]
        bodies = [f for f in around if not f[2].startswith(('class ', 'struct ', 'union '))]
        return (bodies[0][2], bodies[0][3]) if bodies else (around[-1][2], True) if around else ('', False)

    def in_code(self, i):
        while i >= 0:
            i = self.inner[i]
            if i >= 0 and self.scope.get(i) in ('function', 'lambda', 'block'):
                return True
        return False

    def mask_constants(self):
        """Marks tokens that must be compile-time constants or types, which no mutant may touch."""
        tok, self.masked = self.tok, bytearray(len(self.tok))

        def mask(first, last):
            self.masked[first:last + 1] = b'\1' * (last + 1 - first)

        for i, t in enumerate(tok):
            if i in self.angle and self.match[i] > i:
                mask(i, self.match[i])
            elif t in ('static_assert', 'noexcept', 'decltype', 'sizeof', 'alignas', 'requires', 'operator') and i + 1 < len(tok):
                mask(i, self.match.get(i + 1, i + 1))
            elif WITHOUT_EFFECT.fullmatch(t) and i + 1 < len(tok) and tok[i + 1] == '(':
                mask(self.chain_start(i), self.match.get(i + 1, i + 1) + 1)
            elif t == 'constexpr' and tok[i - 1] == 'if':
                mask(i, self.match.get(i + 1, i + 1))
            elif t == 'constexpr':
                j = i + 1
                while j < len(tok) and tok[j] not in (';', '=', '{', '('):
                    j = self.match[j] + 1 if j in self.angle and self.match[j] > j else j + 1
                if j < len(tok) and (tok[j] == '=' or tok[j] == '{' and self.scope.get(j) == 'init'):
                    while tok[j] != ';' and j < len(tok) - 1:
                        j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
                    mask(i, j)
            elif t == 'case':
                j = i
                while tok[j] != ':':
                    j += 1
                mask(i, j)
            elif t == '{' and self.scope.get(i) == 'enum' or t == '[' and tok[i + 1] == '[':
                mask(i, self.match.get(i, i))
            elif t == '[' and self.kind[i - 1] == 'name' and i > 1 and i in self.match and (
                    self.kind[i - 2] == 'name' and tok[i - 2] not in STOPS or tok[i - 2] in ('*', '&', '>') and not self.spaced(i - 2)):
                mask(i, self.match[i])  # a declaration of an array

    # ---- Expressions.

    def is_binary(self, i):
        return self.tok[i] in PRECEDENCE and i not in self.angle and self.spaced(i) and self.tok[i - 1] not in STOPS

    def left(self, i, precedence):
        """Returns the first token of the left operand of the operator i."""
        j = i - 1
        while j >= 0:
            t = self.tok[j]
            if t in ('(', '[', '{') or t in STOPS or self.is_binary(j) and PRECEDENCE[t] < precedence:
                return j + 1
            if j in self.match and self.match[j] < j:
                k = self.match[j]
                if t == ')' and self.tok[k - 1] in CONTROL or t == '}' and self.scope.get(k) not in ('init', 'lambda'):
                    return j + 1
                j = k
            j -= 1
        return 0

    def right(self, i, precedence):
        """Returns the last token of the right operand of the operator i."""
        j = i + 1
        while j < len(self.tok):
            t = self.tok[j]
            if t in CLOSING or t in STOPS or self.is_binary(j) and PRECEDENCE[t] <= precedence:
                return j - 1
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        return j - 1

    def end_of_assignment(self, i):
        """Returns the last token that the operator i assigns: `a += b ? c : d` assigns what ?: chooses."""
        j, open_choices = i + 1, 0
        while self.tok[j] not in CLOSING and self.tok[j] not in (',', ';') and (self.tok[j] != ':' or open_choices > 0):
            open_choices += {'?': 1, ':': -1}.get(self.tok[j], 0)
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        return j - 1

    def chain_start(self, i):
        """Returns the first token of the postfix expression that ends with the name i: a::b<c>(d)[e].name."""
        while i > 0:
            t = self.tok[i - 1]
            if t == '::' and not (i > 1 and (self.kind[i - 2] == 'name' and self.tok[i - 2] not in STOPS or i - 2 in self.angle)):
                return i - 1
            if t not in ('.', '->', '::'):
                return i
            i -= 2
            while self.tok[i] in (')', ']') or i in self.angle:
                i = self.match[i] - 1
            if self.kind[i] != 'name':
                return i + 1
        return i

    def clean(self, first, last, changes=()):
        """Returns tokens first..last on one line without comments; changes maps tokens to other texts."""
        changes, parts = dict(changes), []
        for i in range(first, last + 1):
            if i > first and self.end[i - 1] < self.start[i]:
                parts.append(' ')
            parts.append(changes.get(i, self.tok[i]))
        return ''.join(parts)

    def type_of(self, first, last):
        """Returns the type with which a plain name was declared before, as text without const and &; '' if that is not known."""
        if first != last or self.kind[first] != 'name':
            return ''
        for i in range(first - 1, max(0, first - 3000), -1):
            if self.tok[i] == self.tok[first] and self.tok[i + 1] in (',', ')', '=', ';', '{', ':'):
                j = i - 1
                while j > 0 and (self.kind[j] == 'name' and self.tok[j] not in STOPS or self.tok[j] in ('::', '&', '*', '&&')
                                 and not self.spaced(j) or j in self.angle):
                    j = self.match[j] - 1 if j in self.angle else j - 1
                words = [t for t in self.tok[j + 1:i] if t not in ('const', '&', '&&', 'static', 'constexpr')]
                if words and words != ['auto'] and (self.kind[i - 1] == 'name' or self.tok[i - 1] in ('&', '*', '>')):
                    return ' '.join(words)
        return ''

    def arguments(self, i):
        """Returns [first, last] of each argument of the brackets that open at i."""
        result, first, j = [], i + 1, i + 1
        while j <= self.match[i]:
            if self.tok[j] == ',' or j == self.match[i]:
                result.append((first, j - 1))
                first = j + 1
            j = self.match[j] + 1 if j in self.match and self.match[j] > j else j + 1
        return result
