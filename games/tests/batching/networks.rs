//! Networks made by hand, and at random.

use std::sync::Arc;

use games::network::{GoalValue, Graph, Lit, RoleOutputs};
use games::{
    Cancel, Case, Expression, Game, GroundingLimits, Leniency, Network, ground, library, validate,
};

/// Some valid game: what a network made by hand says of itself.
pub(crate) fn game(name: &str) -> Arc<Game> {
    let text = library::find(name).unwrap().text;
    Arc::new(validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap())
}

/// The network of a shipped game.
pub(crate) fn network(name: &str) -> Arc<Network> {
    grounded(&game(name))
}

/// The network of a game by its rules.
pub(crate) fn network_of(text: &str) -> Arc<Network> {
    let read = validate::read("test", text, Case::Folded, Leniency::Strict);
    grounded(&Arc::new(read.game.unwrap()))
}

fn grounded(game: &Arc<Game>) -> Arc<Network> {
    Arc::new(ground(game, &GroundingLimits::default(), &Cancel::new()).unwrap())
}

/// The next number of a linear congruential generator, below `n`.
pub(crate) fn below(seed: &mut u64, n: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) as usize * n) >> 31
}

fn role(moves: Vec<Expression>, legal: Vec<Lit>, goals: Vec<(GoalValue, Lit)>) -> RoleOutputs {
    RoleOutputs { moves, legal, goals, percepts: Vec::new() }
}

fn names(n: usize) -> Vec<Expression> {
    (0..n).map(|i| Expression::Atom(format!("n{i}"))).collect()
}

/// Tic-tac-toe: fact `c` is an X in cell `c`, `9 + c` an O, 18 whether X is to
/// move. Moves of either role: the cells, then to wait.
pub(crate) fn tic_tac_toe() -> Arc<Network> {
    const LINES: [[usize; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    let game = game("tic_tac_toe");
    let mut graph = Graph::new(19 + 20);
    let to_move = graph.input(18);
    let mut free = Vec::new();
    for cell in 0..9 {
        let (x, o) = (graph.input(cell), graph.input(9 + cell));
        free.push(graph.and(!x, !o));
    }
    let mut wins = Vec::new();
    for player in 0..2 {
        let mut lines = Vec::new();
        for line in LINES {
            let mut cells = line.map(|cell| graph.input(player * 9 + cell)).to_vec();
            lines.push(graph.all(&mut cells));
        }
        wins.push(graph.any(&mut lines));
    }
    let full = !graph.any(&mut free.clone());
    let decided = graph.or(wins[0], wins[1]);
    let terminal = graph.or(decided, full);
    let mut next = Vec::new();
    let mut roles = Vec::new();
    for player in 0..2 {
        let turn = to_move.negated_if(player == 1);
        let mut legal: Vec<Lit> = (0..9).map(|cell| graph.and(turn, free[cell])).collect();
        legal.push(!turn);
        for cell in 0..9 {
            let (mark, does) =
                (graph.input(player * 9 + cell), graph.input(19 + player * 10 + cell));
            next.push(graph.or(mark, does));
        }
        let goals = vec![
            (GoalValue::Integer(0), wins[1 - player]),
            (GoalValue::Integer(50), !decided),
            (GoalValue::Integer(100), wins[player]),
        ];
        roles.push(role(names(10), legal, goals));
    }
    next.push(!to_move);
    let mut initial = vec![false; 19];
    initial[18] = true;
    let facts = names(19);
    Arc::new(Network { game, graph, facts, initial, next, terminal, roles })
}

/// A network of random conjunctions, of which any may be anything, constants
/// and bare inputs too.
pub(crate) fn random(seed: &mut u64, n_ands: usize) -> Arc<Network> {
    let game = game("tic_tac_toe");
    let n_facts = 1 + below(seed, 90);
    let n_moves: Vec<usize> = (0..1 + below(seed, 3)).map(|_| 1 + below(seed, 60)).collect();
    let all_moves: usize = n_moves.iter().sum();
    let mut graph = Graph::new(n_facts + all_moves);
    let mut early: Vec<Lit> = vec![Lit::FALSE];
    early.extend((0..n_facts).map(|fact| graph.input(fact)));
    let pick = |seed: &mut u64, from: &[Lit]| {
        // The latest are likelier, so that it becomes deep.
        let span = if below(seed, 2) == 0 { from.len() } else { from.len().min(20) };
        from[from.len() - 1 - below(seed, span)].negated_if(below(seed, 2) == 0)
    };
    for _ in 0..n_ands {
        let (a, b) = (pick(seed, &early), pick(seed, &early));
        let node = if below(seed, 4) == 0 {
            let (both, neither) = (graph.and(a, b), graph.and(!a, !b));
            graph.or(both, neither)
        } else {
            graph.and(a, b)
        };
        early.push(node);
    }
    let mut late = early.clone();
    late.extend((0..all_moves).map(|i| graph.input(n_facts + i)));
    for _ in 0..n_ands {
        let (a, b) = (pick(seed, &late), pick(seed, &late));
        let node = graph.and(a, b);
        late.push(node);
    }
    let mut roles = Vec::new();
    for n in n_moves {
        let legal = (0..n).map(|_| pick(seed, &early)).collect();
        let values = [GoalValue::Integer(-5), GoalValue::Integer(0), GoalValue::Integer(100)];
        let goals = values.into_iter().chain([GoalValue::Unreadable]);
        let goals = goals.map(|value| (value, pick(seed, &early))).collect();
        let mut role = role(names(n), legal, goals);
        let percepts = names(7).into_iter().map(|name| (name, pick(seed, &late)));
        role.percepts = percepts.collect();
        roles.push(role);
    }
    let initial = (0..n_facts).map(|_| below(seed, 2) == 0).collect();
    let next = (0..n_facts).map(|_| pick(seed, &late)).collect();
    let terminal = pick(seed, &early);
    let facts = names(n_facts);
    Arc::new(Network { game, graph, facts, initial, next, terminal, roles })
}

/// Counts to `length` by itself; the only role may choose among `n_moves`, all
/// of which are legal except that the `i`-th is not where `forbidden(i)`.
pub(crate) fn counter(length: usize, n_moves: usize, forbidden: fn(usize) -> bool) -> Arc<Network> {
    let game = game("hanoi");
    // One fact for each number, then one for each move: made in the last step.
    let mut graph = Graph::new(length + 1 + 2 * n_moves);
    let mut next = vec![Lit::FALSE];
    next.extend((0..length).map(|i| graph.input(i)));
    next.extend((0..n_moves).map(|i| graph.input(length + 1 + n_moves + i)));
    let terminal = graph.input(length);
    let legal = (0..n_moves).map(|i| Lit::TRUE.negated_if(forbidden(i))).collect();
    let mut made = Vec::new();
    for half in [0, 1] {
        let moves = (0..n_moves).filter(|i| i % 2 == half);
        made.push(graph.any(&mut moves.map(|i| graph.input(length + 1 + i)).collect()));
    }
    let start = graph.input(0);
    let goals = vec![
        (GoalValue::Integer(10), made[0]),
        (GoalValue::Integer(90), made[1]),
        (GoalValue::Integer(50), start),
    ];
    let roles = vec![role(names(n_moves), legal, goals)];
    let mut initial = vec![false; length + 1 + n_moves];
    initial[0] = true;
    let facts = names(length + 1 + n_moves);
    Arc::new(Network { game, graph, facts, initial, next, terminal, roles })
}
