#!/usr/bin/env python3
"""A complete player for any game, in one file and without dependencies:

    python3 scripts/sample_player.py --port 9147 --strategy random

It speaks the GGP protocol over HTTP and computes its legal moves from the rules
that it receives. It does not try to win: to improve it, begin at `Match.choose`.
"""
import argparse, itertools, random, re, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SPELLING = {}  # lower-case name -> its first spelling

def parse(text):
    """Parses the first expression of a text: names become strings, lists tuples."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s();]+", re.sub(r";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(tuple(stack.pop()))
        else:
            stack[-1].append(SPELLING.setdefault(token.lower(), token).lower())
    return stack[0][0]

def show(term):
    return SPELLING.get(term, term) if isinstance(term, str) else "(" + " ".join(map(show, term)) + ")"
def name(term):
    return term if isinstance(term, str) else name(term[0])
def variables(term):
    return set().union(*map(variables, term)) if isinstance(term, tuple) else {term} if term[0] == "?" else set()
def fill(term, known):
    return known.get(term, term) if isinstance(term, str) else tuple(fill(part, known) for part in term)

def match(pattern, fact, known):
    """Extends the bindings so that the pattern equals the fact; None if it cannot."""
    if isinstance(pattern, str):
        known = {**known, pattern: fact} if pattern[0] == "?" and pattern not in known else known
        return known if known.get(pattern, pattern) == fact else None
    if isinstance(fact, str) or len(pattern) != len(fact):
        return None
    for one, other in zip(pattern, fact):
        known = known if known is None else match(one, other, known)
    return known

def in_order(body):
    """Moves `not` and `distinct` behind the conditions that bind their variables."""
    rest, done = list(body), []
    while rest:
        known = variables((*done,))
        done.append(next((l for l in rest if name(l) not in ("not", "distinct") or variables(l) <= known), rest[0]))
        rest.remove(done[-1])
    return done

def mentioned(body):
    for literal in body:
        deeper = mentioned(literal[1:]) if name(literal) in ("not", "or") else [(name(literal), False)]
        yield from ((used, negated or name(literal) == "not") for used, negated in deeper)

def prove(body, known, facts):
    """Yields all bindings that satisfy the conditions."""
    literal, kind, solutions = (fill(body[0], known), name(body[0]), []) if body else ("", "", [known])
    if kind == "distinct":
        solutions = [known] if literal[1] != literal[2] else []
    elif kind == "not":
        solutions = [] if any(True for _ in prove(literal[1:], known, facts)) else [known]
    elif kind == "or":
        solutions = (k for part in literal[1:] for k in prove([part], known, facts))
    elif body and not variables(literal):
        solutions = [known] if literal in facts.get(kind, ()) or kind == literal[0] in facts.get(kind, ()) else []
    elif body:
        key = (kind, name(literal[1])) if name(literal[1])[0] != "?" else kind
        solutions = (match(literal, fact, known) for fact in list(facts.get(key, ())))
    for solution in solutions:
        if solution is not None:
            yield from prove(body[1:], solution, facts) if body else [solution]

def add(facts, fact):
    """Indexes a fact by name, and by name and first argument; returns whether it is new."""
    fact = fact[0] if isinstance(fact, tuple) and len(fact) == 1 else fact  # (p) is p
    is_new = fact not in facts.get(name(fact), ())
    for key in (name(fact), (name(fact), name(fact[1]) if isinstance(fact, tuple) else "")):
        facts.setdefault(key, {})[fact] = True
    return is_new

class Match:
    """The rules, the player's role, and up to 8 states that are possible now."""
    def __init__(self, role, forms, *_):
        self.role, self.roles = role, [form[1] for form in forms if form[0] == "role"]
        rules = [(form[1], in_order(form[2:])) if form[0] == "<=" else (form, []) for form in forms]
        level = dict.fromkeys("init legal next sees terminal".split(), 0)  # relations needed -> stratum
        for head, body in 50 * rules:  # enough for any chain of rules seen in practice
            if name(head) in level:
                for used, negated in mentioned(body):
                    level[used] = level.get(used, 0)
                    level[name(head)] = max(level[name(head)], level[used] + negated)
        self.strata = [[r for r in rules if level.get(name(r[0])) == n] for n in sorted(set(level.values()))]
        self.states = [self.all("init", ())]

    def derive(self, state, moves=()):
        """Derives all facts of a state, stratum by stratum."""
        facts = {}
        for fact in itertools.chain((("true", f) for f in state), (("does", *m) for m in zip(self.roles, moves))):
            add(facts, fact)
        for rules in self.strata:
            while any([add(facts, fill(head, k)) for head, body in rules for k in list(prove(body, {}, facts))]):
                pass  # repeat until nothing new is derived
        return facts

    def all(self, kind, state, moves=(), role=None):
        """The last arguments of `init`, `next`, `legal` and so on, optionally of one role."""
        return frozenset(f[-1] for f in self.derive(state, moves).get(kind, ()) if role in (None, f[1]))

    def update(self, turn, own=None, percepts=None):
        if percepts is None and isinstance(turn, tuple):  # the joint move: perfect information
            self.states = [self.all("next", self.states[0], turn)]
        elif percepts is not None and turn != "0":  # hidden information: keep the states that fit the percepts
            seen, fitting = frozenset(percepts if isinstance(percepts, tuple) else ()), set()
            for state in self.states:
                choices = [{own} if r == self.role else self.all("legal", state, (), r) for r in self.roles]
                for moves in itertools.product(*choices):
                    if self.all("sees", state, moves, self.role) == seen:
                        fitting.add(self.all("next", state, moves))
            self.states = random.sample(list(fitting), min(8, len(fitting))) or self.states

    def choose(self):
        legal = sorted(self.all("legal", self.states[0], (), self.role), key=show)
        return legal[0] if OPTIONS.strategy == "legal" else random.choice(legal)

class Handler(BaseHTTPRequestHandler):
    matches, lock = {}, threading.Lock()  # handles one match and one message at a time
    def do_POST(self):
        verb, *rest = parse(self.rfile.read(int(self.headers["Content-Length"])).decode("ascii", "replace"))
        reply = {"start": "ready", "stop": "done", "abort": "aborted"}.get(verb, "((name sample) (status available))")
        with self.lock:  # the next message may arrive while the player still thinks
            if verb == "start":
                self.matches.clear()
                self.matches[rest[0]] = Match(*rest[1:])
            elif verb in ("play", "stop") and rest[0] in self.matches:
                self.matches[rest[0]].update(*rest[1:])
                reply = show(self.matches[rest[0]].choose()) if verb == "play" else reply
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/acl\r\n\r\n" + reply.encode())

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A player for any game; it makes legal moves.")
    parser.add_argument("--port", type=int, default=9147)
    parser.add_argument("--strategy", choices=("legal", "random"), default="random")
    OPTIONS = parser.parse_args()  # `legal` always plays the first legal move
    ThreadingHTTPServer(("127.0.0.1", OPTIONS.port), Handler).serve_forever()
