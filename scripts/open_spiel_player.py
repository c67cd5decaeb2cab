#!/usr/bin/env python3
"""Plays against OpenSpiel's players (https://github.com/google-deepmind/open_spiel):

    pip install open_spiel
    python3 scripts/open_spiel_player.py --game connect_four --simulations 10000 --port 9147
    gamemaster play connect_four mcts http://127.0.0.1:9147

It speaks the GGP protocol over HTTP and lets OpenSpiel's Monte-Carlo tree search choose. OpenSpiel
has its own rules, so this works for shipped games that it has too, with names as they are (no
`scramble`).
"""
import argparse, random, re, time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyspiel


def parse(text):
    """Parses the first expression of a text: names become strings, lists tuples."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s();]+", re.sub(r";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(tuple(stack.pop()))
        else:
            stack[-1].append(token.lower())
    return stack[0][0]


def numbers(move):
    return [int(part) - 1 for part in move[1:]]


class Board:
    """A game on a board: OpenSpiel's name of it, and moves as its actions."""
    def __init__(self, spiel, to_action):
        self.spiel, self.to_action = spiel, to_action

    def action(self, state, move):
        return self.to_action(state, move)

    def move(self, state, action, candidates):
        """The move, of all that the rulesheet may have, that is this action."""
        for move in candidates:
            if self.to_action(state, move) == action:
                return move
        raise ValueError(f"no move for {state.action_to_string(action)}")


def breakthrough(state, move):
    """Row 1 is on the other side of the board."""
    if move == "noop":
        return None
    column, row, to_column, to_row = numbers(move)
    name = f"{'abcdefgh'[column]}{8 - row}{'abcdefgh'[to_column]}{8 - to_row}"
    for action in state.legal_actions():
        if state.action_to_string(action).rstrip("*") == name:
            return action
    return None


def on_board(width, by_row=False):
    """Actions count cells row by row; moves have the column first unless `by_row`."""
    def to_action(_, move):
        if isinstance(move, str):
            return width * width if move == "pass" else None
        first, second = numbers(move)
        return first * width + second if by_row else second * width + first
    return to_action


def cells(name, width):
    return [(name, str(one), str(other)) for one in range(1, width + 1) for other in range(1, width + 1)]


GAMES = {
    "tic_tac_toe": (Board("tic_tac_toe", on_board(3, by_row=True)), cells("mark", 3)),
    "connect_four": (
        Board("connect_four", lambda _, move: None if move == "noop" else numbers(move)[0]),
        [("drop", str(column)) for column in range(1, 8)],
    ),
    "breakthrough": (
        Board("breakthrough", breakthrough),
        [("move", *map(str, (column, row, column + side, row + up)))
         for column in range(1, 9) for row in range(1, 9) for side in (-1, 0, 1) for up in (-1, 1)
         if 1 <= column + side <= 8 and 1 <= row + up <= 8],
    ),
    "othello": (Board("othello", on_board(8)), cells("place", 8) + ["pass"]),
    "hex": (Board("hex(board_size=7)", on_board(7)), cells("place", 7)),
}


def show(term):
    return term if isinstance(term, str) else "(" + " ".join(map(show, term)) + ")"


class Match:
    """A match: OpenSpiel's state and its player."""
    def __init__(self, role, forms, *_):
        self.roles = [form[1] for form in forms if form[0] == "role"]
        self.me = self.roles.index(role)
        self.board, self.candidates = GAMES[OPTIONS.game]
        self.game = pyspiel.load_game(self.board.spiel)
        self.state = self.game.new_initial_state()
        self.step = 0

    def update(self, moves):
        self.step += isinstance(moves, tuple)
        for move in moves if isinstance(moves, tuple) else ():
            is_over = move == "noop" or self.state.is_terminal()
            action = None if is_over else self.board.action(self.state, move)
            if action is not None:
                self.state.apply_action(action)

    def choose(self):
        if self.state.is_terminal():  # The rulesheet of othello ends after two passes.
            return "pass" if self.step % 2 == self.me else "noop"
        if self.state.current_player() != self.me:
            return "noop"
        seed = random.randrange(1 << 30)
        # Most simulations, its memory in MB, whether it proves values, and the clock.
        bot = pyspiel.MCTSBot(
            self.game, pyspiel.RandomRolloutEvaluator(1, seed), OPTIONS.uct_c,
            1_000_000_000 if OPTIONS.seconds else OPTIONS.simulations, 4000, True, seed, False,
            max_wall_clock_time=OPTIONS.seconds or -1)
        began = time.monotonic()
        action = bot.step(self.state)
        if OPTIONS.verbose:
            print(f"{time.monotonic() - began:.2f} s", flush=True)
        return self.board.move(self.state, action, self.candidates)


class Handler(BaseHTTPRequestHandler):
    matches = {}

    def do_POST(self):
        verb, *rest = parse(self.rfile.read(int(self.headers["Content-Length"])).decode("ascii", "replace"))
        reply = {"start": "ready", "stop": "done", "abort": "aborted"}.get(verb, "((name open_spiel) (status available))")
        if verb == "start":
            self.matches.clear()
            self.matches[rest[0]] = Match(*rest[1:])
        elif verb in ("play", "stop") and rest[0] in self.matches:
            match = self.matches[rest[0]]
            match.update(rest[1])
            reply = show(match.choose()) if verb == "play" else reply
            if verb == "stop" and OPTIONS.verbose:
                print("returns", match.state.is_terminal() and match.state.returns(), flush=True)
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/acl\r\n\r\n" + reply.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="OpenSpiel's Monte-Carlo tree search as a player.")
    parser.add_argument("--game", choices=sorted(GAMES), required=True)
    parser.add_argument("--port", type=int, default=9147)
    parser.add_argument("--simulations", type=int, default=10_000, help="for each move")
    parser.add_argument("--seconds", type=float, help="for each move, in place of a fixed number")
    parser.add_argument("--uct-c", type=float, default=2.0, help="OpenSpiel's exploration constant")
    parser.add_argument("--verbose", action="store_true", help="print what each move took")
    OPTIONS = parser.parse_args()
    HTTPServer(("127.0.0.1", OPTIONS.port), Handler).serve_forever()
