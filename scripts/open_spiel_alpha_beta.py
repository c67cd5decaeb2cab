#!/usr/bin/env python3
"""Compares `alpha_beta` with OpenSpiel's alpha-beta search: the time to depths 1, 2, ...

    pip install open_spiel
    cargo build --release --locked
    python3 scripts/open_spiel_alpha_beta.py --limit 15

Both search from the initial state, in turn, on one core. The value of a state at the depth limit
is a draw for both: 0 for OpenSpiel, 50 for `alpha_beta`. If they find different values, the script
ends with an error.

OpenSpiel has this search in C++ and in Python. The package contains both, but lets Python call the
second only. The first is called through a few lines of C++, which need a compiler (`c++`);
`--python` takes the second. OpenSpiel searches once, to the full depth, tries moves as the game
lists them and remembers nothing. `alpha_beta` searches to depth 1, 2, ... and remembers states, and
the time for a depth includes all smaller ones. With `--options
deepening=false,transposition=0,bounded=false` both search the same tree of `connect_four`.

Seconds are processor time of the search. Those of `alpha_beta` are what the record of a match of
one step reports for the decision: without the start of the process, but with the preparation of the
rules, which OpenSpiel has compiled. Those of OpenSpiel are without its import. `--json` has the wall
time too. Needs Linux (it stays on one core).
"""
import argparse, ctypes, json, math, os, shutil, subprocess, sys, tempfile, time
from importlib.metadata import version
from pathlib import Path

try:
    import pyspiel
    from open_spiel.python.algorithms.minimax import alpha_beta_search
except ModuleNotFoundError:
    sys.exit("this needs OpenSpiel: pip install open_spiel")

# OpenSpiel's name of each game, and whether it can take moves back there. If not, it copies states.
GAMES = {
    "breakthrough": ("breakthrough", True),
    "breakthrough_5x5": ("breakthrough(rows=5,columns=5)", True),
    "breakthrough_6x6": ("breakthrough(rows=6,columns=6)", True),
    "connect_four": ("connect_four", False),
    "connect_four_4x4": ("connect_four(rows=4,columns=4)", False),
    "connect_four_5x5": ("connect_four(rows=5,columns=5)", False),
    "connect_three": ("connect_four(rows=4,columns=3,x_in_row=3)", False),
    "hex": ("hex(board_size=7)", False),
    "hex_4x4": ("hex(board_size=4)", False),
    "hex_5x5": ("hex(board_size=5)", False),
    "othello": ("othello", False),
    "tic_tac_toe": ("tic_tac_toe", True),
}

SEARCH = """
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace open_spiel {
class Game;
class State;
std::shared_ptr<const Game> LoadGame(const std::string&);
namespace algorithms {
std::pair<double, long> AlphaBetaSearch(
    const Game&, const State*, std::function<double(const State&)>, int depth, int player, bool undo);
}
}

extern "C" double search(const char* game, int depth, bool undo) {
    try {
        auto draw = [](const open_spiel::State&) { return 0.0; };
        return open_spiel::algorithms::AlphaBetaSearch(
            *open_spiel::LoadGame(game), nullptr, draw, depth, 0, undo).first;
    } catch (...) {
        return NAN;
    }
}
"""


def search_in_cpp(name, undo):
    if not shutil.which("c++"):
        sys.exit("no C++ compiler (c++): install one, or use --python")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "search.so")
        command = ["c++", "-O2", "-shared", "-fPIC", "-x", "c++", "-", "-o", library]
        if subprocess.run(command, input=SEARCH, text=True).returncode != 0:
            sys.exit("the compiler failed; try --python")
        ctypes.CDLL(pyspiel.__file__, ctypes.RTLD_GLOBAL)
        search = ctypes.CDLL(str(library)).search
    search.argtypes, search.restype = [ctypes.c_char_p, ctypes.c_int, ctypes.c_bool], ctypes.c_double
    return lambda depth: search(name.encode(), depth, undo)


def search_in_python(name):
    game = pyspiel.load_game(name)
    return lambda depth: float(alpha_beta_search(
        game, value_function=lambda _: 0, maximum_depth=depth, maximizing_player_id=0)[0])


def open_spiel(search, depth):
    wall, cpu = time.monotonic(), time.thread_time()
    value = search(depth)
    if math.isnan(value):
        sys.exit(f"OpenSpiel's search to depth {depth} failed; try --python")
    return {"value": value, "seconds": time.thread_time() - cpu, "wall_seconds": time.monotonic() - wall}


def gamemaster(program, game, options, depth):
    player = f"alpha_beta:depth={depth}" + (options and f",{options}")
    command = [program, "play", game, player, "legal", "--step-limit", "1", "--start-clock", "0s",
               "--play-clock", "24h", "--json", "--verbose"]
    run = subprocess.run(command, stdout=subprocess.PIPE)
    if run.returncode != 0:
        sys.exit(f"this command failed: {' '.join(map(str, command))}")
    record = json.loads(run.stdout)
    decision, said = record["steps"][0][0], record["explanations"]["steps"][0][0]
    if not said["completed"]:
        sys.exit(f"depth {depth}: the search of alpha_beta did not end")
    return {"value": (said["value"] - 50) / 50, "seconds": decision["cpu_us"] / 1e6,
            "wall_seconds": decision["wall_us"] / 1e6, "nodes": decision["nodes"]}


def show(row):
    one, other, ratio = row["open_spiel"], row["gamemaster"], row["ratio"]
    return "{:>5}  {:>5}  {:>11}  {:>12}  {:>8}  {:>12}".format(
        row["depth"], f"{row['value']:g}", f"{one['seconds']:.5f}" if one else "-",
        f"{other['seconds']:.5f}" if other else "-", f"{ratio:.3g}" if ratio else "-",
        other["nodes"] if other else "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=sorted(GAMES), default="connect_four", help="(default: connect_four)")
    parser.add_argument("--depth", type=int, default=42, help="deepest search (default: 42)")
    parser.add_argument("--limit", type=float, default=10,
                        help="stop deepening a program after a search of more than this many seconds (default: 10)")
    parser.add_argument("--options", default="", help="more options of alpha_beta, as for `gamemaster play`")
    parser.add_argument("--python", action="store_true", help="OpenSpiel's search in Python in place of C++")
    parser.add_argument("--gamemaster", default="target/release/gamemaster", help="the program to measure")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    program = Path(arguments.gamemaster).resolve()
    if not program.exists():
        sys.exit(f"no program at {program}: build it, or name another one with --gamemaster")
    name, undo = GAMES[arguments.game]
    search = search_in_python(name) if arguments.python else search_in_cpp(name, undo)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    programs = {
        "open_spiel": lambda depth: open_spiel(search, depth),
        "gamemaster": lambda depth: gamemaster(program, arguments.game, arguments.options, depth),
    }
    report = {
        "game": arguments.game, "search": "python" if arguments.python else "c++",
        "options": arguments.options, "open_spiel": version("open_spiel"),
        "gamemaster": subprocess.check_output([program, "--version"], text=True).split()[1], "rows": [],
    }
    if not arguments.json:
        print(f"{arguments.game} from its initial state, on one core: OpenSpiel {report['open_spiel']} in "
              f"{report['search'].capitalize()}, gamemaster {report['gamemaster']}"
              + (arguments.options and f" with {arguments.options}"))
        print("Seconds of processor time; gamemaster's as it reports them for the decision, without the start "
              "of its process.\nRatio: OpenSpiel's to gamemaster's.\n")
        print("depth  value  OpenSpiel s  gamemaster s     ratio         nodes", flush=True)
    for depth in range(1, arguments.depth + 1):
        row = {"depth": depth, "open_spiel": None, "gamemaster": None, "ratio": None}
        for key in programs:
            row[key] = programs[key](depth)
        values = {key: row[key]["value"] for key in programs}
        row["value"] = next(iter(values.values()))
        if any(value != row["value"] for value in values.values()):
            sys.exit(f"depth {depth}: the values differ: {values}")
        if len(values) == 2:
            row["ratio"] = row["open_spiel"]["seconds"] / max(row["gamemaster"]["seconds"], 1e-6)
        report["rows"].append(row)
        if not arguments.json:
            print(show(row), flush=True)
        programs = {key: run for key, run in programs.items() if row[key]["seconds"] <= arguments.limit}
        if not programs:
            break
    if arguments.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
