//! Solved games against published values, brute force, and each other.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use games::solve::{Alone, Crew, Phase, SolveError, Solver, Task, ValueTable, choice};
use games::{
    Cancel, Case, Game, Guards, Leniency, MoveId, Prover, State, StateMachine, library, validate,
};

/// As many threads as tasks.
struct Threads;

impl Crew for Threads {
    fn n_workers(&self) -> usize {
        3
    }

    fn run(&self, tasks: Vec<Task<'_>>) {
        std::thread::scope(|scope| {
            for task in tasks {
                scope.spawn(task);
            }
        });
    }
}

fn read(name: &str, text: &str) -> Arc<Game> {
    let validation = validate::read(name, text, Case::Folded, Leniency::Strict);
    Arc::new(validation.game.unwrap_or_else(|| panic!("{name}: {:?}", validation.findings)))
}

fn shipped(name: &str) -> Arc<Game> {
    read(name, library::find(name).unwrap().text)
}

fn finish(mut solver: Solver, crew: &dyn Crew) -> Result<Solver, SolveError> {
    while solver.progress().phase != Phase::Done {
        solver.step(crew)?;
    }
    Ok(solver)
}

fn solve(game: &Arc<Game>) -> Result<Solver, SolveError> {
    finish(Solver::new(game, 1 << 30, 1, &Cancel::new())?, &Alone)
}

fn check(game: &Arc<Game>, n_states: u64, value: &[f64]) {
    let solver = solve(game).unwrap();
    let name = game.name();
    assert_eq!(solver.progress().n_states, n_states, "{name}");
    let found = solver.value();
    let is_equal = found.iter().zip(value).all(|(found, value)| (found - value).abs() < 1e-9);
    assert!(is_equal && found.len() == value.len(), "{name}: {found:?}");
}

#[test]
fn published_values_are_found() {
    // Counted by many.
    check(&shipped("tic_tac_toe"), 5478, &[50.0, 50.0]);
    // Tromp's table of connect four on small boards: 161029 positions, a draw.
    check(&shipped("connect_four_4x4"), 161_029, &[50.0, 50.0]);
    // Bouton 1901: the player to move wins unless the sum without carries is 0.
    check(&shipped("nim"), 232, &[100.0, 0.0]);
    // The two-ply tree of Russell and Norvig, and their trees of chance, as rewards.
    check(&shipped("aima_two_ply"), 13, &[3.0, 97.0]);
    check(&shipped("coin_flip"), 15, &[50.0, 50.0, 0.0]);
    check(&shipped("dice_tree"), 15, &[21.0, 79.0, 0.0]);
    check(&shipped("dice_tree_linear"), 15, &[13.3, 86.7, 0.0]);
    check(&shipped("dice_tree_stretched"), 15, &[10.0, 90.0, 0.0]);
    check(&shipped("order_tree"), 7, &[2.0, 98.0]);
    check(&shipped("order_tree_stretched"), 7, &[20.0, 80.0]);
    // The 8-puzzle of the course: 381 states, the step included.
    check(&shipped("eight_puzzle_course"), 381, &[100.0]);
    check(&shipped("eight_puzzle_seed"), 381, &[100.0]);
    check(&shipped("matching_pennies"), 5, &[50.0, 50.0]);
    check(&shipped("rock_paper_scissors"), 16, &[50.0, 50.0]);
    // Joel Feinstein 1993: othello on 4 by 4, the second player wins.
    check(&shipped("othello_4x4"), 66_313, &[0.0, 100.0]);
    // A draw, as its rulesheet says.
    check(&shipped("connect_three"), 2715, &[50.0, 50.0]);
}

#[test]
fn mixed_play_has_probabilities() {
    let mut solver = solve(&shipped("matching_pennies")).unwrap();
    let first = solver.first_moves().unwrap();
    assert_eq!(first.values.len(), 4);
    for strategy in &first.best.strategies {
        assert!(strategy.iter().all(|share| (share - 0.5).abs() < 1e-9), "{strategy:?}");
    }
    let mut solver = solve(&shipped("rock_paper_scissors")).unwrap();
    for strategy in &solver.first_moves().unwrap().best.strategies {
        assert!(strategy.iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-9), "{strategy:?}");
    }
}

#[test]
fn first_moves_are_those_of_theory() {
    let mut solver = solve(&shipped("tic_tac_toe")).unwrap();
    let first = solver.first_moves().unwrap();
    // All nine openings are worth 50.
    assert_eq!(first.values, vec![vec![50.0, 50.0]; 9]);
    assert!(first.best.strategies[0].iter().all(|share| (share - 1.0 / 9.0).abs() < 1e-12));
    let mut solver = solve(&shipped("aima_two_ply")).unwrap();
    let first = solver.first_moves().unwrap();
    assert_eq!(first.best.strategies[0], [1.0, 0.0, 0.0]);
}

/// Hex by stones as bits, without any rulesheet: who wins with perfect play.
struct Hex {
    size: u32,
    /// By cell: its neighbours.
    near: Vec<u32>,
    /// By stones of red, of blue: whether red wins.
    known: std::collections::HashMap<(u32, u32), bool>,
}

impl Hex {
    fn new(size: u32) -> Self {
        let n = size as i32;
        let steps = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)];
        let near = |cell: i32| {
            let cells = steps.map(|(right, down)| (cell % n + right, cell / n + down));
            let inside = cells.iter().filter(|(c, r)| (0..n).contains(c) && (0..n).contains(r));
            inside.fold(0, |mask, (c, r)| mask | 1 << (r * n + c))
        };
        Self { size, near: (0..n * n).map(near).collect(), known: Default::default() }
    }

    /// Whether stones join two sides: the first row or column with the last one.
    fn joins(&self, stones: u32, rows: bool) -> bool {
        let side = |at: u32| {
            let cells =
                (0..self.size).map(|i| if rows { at * self.size + i } else { i * self.size + at });
            cells.fold(0, |mask, cell| mask | 1 << cell)
        };
        let mut reached = stones & side(0);
        let mut edge = reached;
        while edge != 0 {
            let cell = edge.trailing_zeros();
            edge &= edge - 1;
            let more = self.near[cell as usize] & stones & !reached;
            reached |= more;
            edge |= more;
        }
        reached & side(self.size - 1) != 0
    }

    fn red_wins(&mut self, red: u32, blue: u32) -> bool {
        if self.joins(red, true) {
            return true;
        }
        if self.joins(blue, false) {
            return false;
        }
        if let Some(&known) = self.known.get(&(red, blue)) {
            return known;
        }
        let is_red = red.count_ones() == blue.count_ones();
        let empty = (0..self.size * self.size).filter(|cell| (red | blue) >> cell & 1 == 0);
        let mut empty: Vec<u32> = empty.collect();
        // The short diagonal first, which cuts off most.
        empty.sort_by_key(|cell| (cell / self.size + cell % self.size).abs_diff(self.size - 1));
        let wins = if is_red {
            empty.iter().any(|cell| self.red_wins(red | 1 << cell, blue))
        } else {
            empty.iter().all(|cell| self.red_wins(red, blue | 1 << cell))
        };
        self.known.insert((red, blue), wins);
        wins
    }
}

#[test]
fn openings_of_hex_are_those_of_another_program() {
    let mut solver = solve(&shipped("hex_4x4")).unwrap();
    assert_eq!(solver.progress().n_states, 9_386_235);
    let first = solver.first_moves().unwrap();
    let mut hex = Hex::new(4);
    let mut n_winning = 0;
    for (opening, value) in first.legal[0].iter().zip(&first.values) {
        let text = opening.to_string();
        let place = text.trim_start_matches("(place ").trim_end_matches(')').split_once(' ');
        let [column, row] =
            place.map(|(c, r)| [c, r].map(|it| it.parse::<u32>().unwrap() - 1)).unwrap();
        let red_wins = hex.red_wins(1 << (row * 4 + column), 0);
        assert_eq!(value[0], if red_wins { 100.0 } else { 0.0 }, "{text}");
        n_winning += u32::from(red_wins);
    }
    // The cells of the short diagonal.
    assert_eq!((first.values.len(), n_winning), (16, 4));
}

/// All states of a game by plain search of its graph with the prover, and their values
/// by plain recursion; for games without circles.
fn by_recursion(game: &Arc<Game>) -> BTreeMap<u128, (bool, Vec<f64>)> {
    fn value(
        machine: &mut dyn StateMachine,
        state: &State,
        known: &mut BTreeMap<u128, (bool, Vec<f64>)>,
    ) -> Vec<f64> {
        let key = machine.key(state).bits();
        if let Some((_, value)) = known.get(&key) {
            return value.clone();
        }
        let game = Arc::clone(machine.game());
        let chance = game.random().map(|role| usize::from(role.0));
        if machine.is_terminal(state).unwrap() {
            let reward = |role: games::RoleId| {
                let goal = machine.goal(state, role).unwrap();
                let reward = goal.values.iter().min().map_or(0, |goal| goal.value());
                if Some(role) == game.random() { 0.0 } else { f64::from(reward) }
            };
            let rewards: Vec<f64> = game.role_ids().map(reward).collect();
            known.insert(key, (true, rewards.clone()));
            return rewards;
        }
        let mut legal: Vec<Vec<MoveId>> = Vec::new();
        for role in game.role_ids() {
            let mut moves = Vec::new();
            machine.legal_moves(state, role, &mut moves).unwrap();
            legal.push(moves);
        }
        let mut joint_moves: Vec<Vec<MoveId>> = vec![vec![]];
        for moves in &legal {
            joint_moves = joint_moves
                .iter()
                .flat_map(|before| moves.iter().map(|&id| [before.as_slice(), &[id]].concat()))
                .collect();
        }
        let values: Vec<Vec<f64>> = joint_moves
            .iter()
            .map(|joint_move| {
                let mut next = State::default();
                machine.next_state(state, joint_move, &mut next).unwrap();
                value(machine, &next, known)
            })
            .collect();
        let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
        let best = choice::resolve(&counts, chance, &mut |at| &values[at]).unwrap();
        known.insert(key, (false, best.value.clone()));
        best.value
    }
    let mut machine = Prover::new(Arc::clone(game), Guards::default()).unwrap();
    let mut known = BTreeMap::new();
    let initial = machine.initial_state().unwrap();
    value(&mut machine, &initial, &mut known);
    known
}

/// All states of a game, by the prover.
fn states(game: &Arc<Game>) -> (Prover, Vec<State>) {
    let mut machine = Prover::new(Arc::clone(game), Guards::default()).unwrap();
    let mut known = BTreeSet::new();
    let mut open = vec![machine.initial_state().unwrap()];
    let mut all = Vec::new();
    while let Some(state) = open.pop() {
        if !known.insert(state.clone()) {
            continue;
        }
        all.push(state.clone());
        if machine.is_terminal(&state).unwrap() {
            continue;
        }
        let mut joint_moves: Vec<Vec<MoveId>> = vec![vec![]];
        for role in game.role_ids() {
            let mut moves = Vec::new();
            machine.legal_moves(&state, role, &mut moves).unwrap();
            joint_moves = joint_moves
                .iter()
                .flat_map(|before| moves.iter().map(|&id| [before.as_slice(), &[id]].concat()))
                .collect();
        }
        for joint_move in joint_moves {
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            open.push(next);
        }
    }
    (machine, all)
}

/// Each value of the table is that of plain recursion over all states, by another
/// reasoner: alternating, simultaneous, with chance, several roles, one role.
#[test]
fn every_value_is_that_of_plain_recursion() {
    for name in [
        "tic_tac_toe",
        "nim",
        "nim_misere",
        "rock_paper_scissors",
        "coin_flip",
        "shut_the_box",
        "pirate_gold",
        "prisoners_dilemma",
        "truel",
        "maze",
        "hanoi_small",
        "buttons_and_lights",
        "connect_three",
        "missionaries_and_cannibals",
    ] {
        let game = shipped(name);
        let recursion = by_recursion(&game);
        let mut solver = solve(&game).unwrap();
        assert_eq!(solver.progress().n_states, recursion.len() as u64, "{name}");
        let n_terminal = recursion.values().filter(|(is_terminal, _)| *is_terminal).count();
        assert_eq!(solver.progress().n_terminal, n_terminal as u64, "{name}");
        let table = solver.table(&Alone);
        assert_eq!(table.len(), recursion.len() - n_terminal, "{name}");
        let (mut machine, states) = states(&game);
        for state in &states {
            let key = machine.key(state);
            let (is_terminal, expected) = &recursion[&key.bits()];
            match table.value(key) {
                None => assert!(is_terminal, "{name}"),
                Some(found) => {
                    assert!(!is_terminal, "{name}");
                    let is_equal =
                        found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9);
                    assert!(is_equal, "{name}: {found:?}, expected {expected:?}");
                }
            }
        }
    }
}

/// Side by side on several threads, and one by one by the prover.
#[test]
fn every_way_to_solve_gives_the_same() {
    for name in ["tic_tac_toe", "nim", "truel", "pirate_gold", "rock_paper_scissors", "maze"] {
        let game = shipped(name);
        let mut alone = solve(&game).unwrap();
        let threads = Solver::new(&game, 1 << 30, 3, &Cancel::new()).unwrap();
        let mut threads = finish(threads, &Threads).unwrap();
        let prover = Box::new(Prover::new(Arc::clone(&game), Guards::default()).unwrap());
        let one_by_one = Solver::one_by_one(prover, 1 << 30).unwrap();
        assert_eq!(one_by_one.method(), "machine");
        let mut one_by_one = finish(one_by_one, &Alone).unwrap();
        assert_eq!(alone.method(), "lanes");
        assert_eq!(alone.levels(), one_by_one.levels(), "{name}");
        let table = alone.table(&Alone);
        assert_eq!(table, threads.table(&Threads), "{name}");
        assert_eq!(table, one_by_one.table(&Alone), "{name}");
    }
}

/// With little memory the references to successors are given up and found again; with
/// less, the states do not fit.
#[test]
fn memory_is_kept_within() {
    let game = shipped("connect_four_4x4");
    let plenty = solve(&game).unwrap();
    let n_most = plenty.progress().most_bytes;
    let little = Solver::new(&game, n_most / 2, 1, &Cancel::new()).unwrap();
    let mut little = finish(little, &Alone).unwrap();
    assert!(little.progress().n_successors > plenty.progress().n_successors);
    assert_eq!(little.value(), [50.0, 50.0]);
    assert!(little.progress().most_bytes <= n_most / 2, "{:?}", little.progress());
    let (mut plenty, crew) = (plenty, Alone);
    assert_eq!(little.table(&crew), plenty.table(&crew));
    let too_little = Solver::new(&game, n_most / 8, 1, &Cancel::new()).unwrap();
    match finish(too_little, &Alone) {
        Err(SolveError::Memory { n_states, limit_bytes, .. }) => {
            assert!((1000..161_029).contains(&n_states), "{n_states}");
            assert_eq!(limit_bytes, n_most / 8);
        }
        other => panic!("{:?}", other.map(|solver| solver.value())),
    }
}

/// Rules by which play may go in circles for ever.
const CIRCLES: &str = "
    (role a) (role b)
    (init (at start)) (init (control a))
    (arc start left) (arc left start) (arc start right) (arc right start)
    (<= (legal ?r (go ?y)) (true (control ?r)) (true (at ?x)) (arc ?x ?y))
    (<= (legal ?r (go out)) (true (control ?r)) (true (at right)))
    (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
    (<= (next (at ?y)) (does ?r (go ?y)))
    (<= (next (control b)) (true (control a)))
    (<= (next (control a)) (true (control b)))
    (<= terminal (true (at out)))
    (<= (goal a ?v) (true (control b)) (worth ?v))
    (<= (goal b ?v) (true (control b)) (worth ?w) (rest ?w ?v))
    (<= (goal a ?v) (true (control a)) (worth ?w) (rest ?w ?v))
    (<= (goal b ?v) (true (control a)) (worth ?v))
    (rest 0 100) (rest 100 0) (rest 20 80)
";

/// Only b can leave, where a goes right, and gets what leaving is worth.
#[test]
fn an_endless_play_is_a_draw_unless_somebody_can_force_more() {
    // Leaving costs the one who leaves: nobody does, and play never ends.
    let game = read("circles", &format!("{CIRCLES} (worth 0)"));
    check(&game, 4, &[50.0, 50.0]);
    // Leaving wins: b would leave at right, so a goes left for ever.
    let game = read("circles", &format!("{CIRCLES} (worth 100)"));
    check(&game, 4, &[50.0, 50.0]);
    // Without left, a must let b leave.
    let text = CIRCLES.replace("(arc start left) (arc left start)", "");
    check(&read("circles", &format!("{text} (worth 100)")), 3, &[0.0, 100.0]);
    check(&read("circles", &format!("{text} (worth 20)")), 3, &[50.0, 50.0]);
}

#[test]
fn games_without_a_value_are_refused() {
    let refused = |game: &Arc<Game>| solve(game).err().unwrap().to_string();
    let hidden = refused(&shipped("kuhn_poker"));
    assert!(hidden.contains("has hidden information"), "{hidden}");
    let fishery = refused(&shipped("odd_one_out"));
    assert!(fishery.contains("choose at the same time"), "{fishery}");
    let stuck = read(
        "stuck",
        "(role a) (init (at 1)) (<= (legal a go) (true (at 1))) (<= (next (at 2)) (does a go))
         (<= terminal (true (at 3))) (goal a 100)",
    );
    let stuck = refused(&stuck);
    assert_eq!(stuck, "`a` has no legal move in a state at depth 1 that is not terminal");
}

#[test]
fn a_table_is_read_as_it_was_written() {
    for name in ["tic_tac_toe", "truel", "nim", "aima_two_ply"] {
        let table = solve(&shipped(name)).unwrap().table(&Alone);
        let mut bytes = Vec::new();
        table.write(&mut bytes).unwrap();
        assert_eq!(ValueTable::read(&mut bytes.as_slice()).unwrap(), table, "{name}");
        // Whatever byte is changed, and wherever it ends, it is noticed.
        let step = (bytes.len() / 300).max(1);
        for at in (0..bytes.len()).step_by(step) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(ValueTable::read(&mut damaged.as_slice()).is_err(), "{name}: byte {at}");
            assert!(ValueTable::read(&mut &bytes[..at]).is_err(), "{name}: {at} bytes");
        }
    }
}

#[test]
fn keys_of_other_states_are_not_found() {
    let game = shipped("nim");
    let table = solve(&game).unwrap().table(&Alone);
    let (mut other, states) = states(&shipped("connect_three"));
    let found = states.iter().filter(|state| table.value(other.key(state)).is_some());
    assert_eq!(found.count(), 0);
}

/// The bytes of the table.
fn bytes(mut solver: Solver) -> Vec<u8> {
    let mut bytes = Vec::new();
    solver.table(&Alone).write(&mut bytes).unwrap();
    bytes
}

/// A solver that is killed again and again, whatever it was doing, continues from its
/// checkpoint and makes the same table: with a depth that follows from the facts, without
/// one, with several sweeps, and with chance and mixed moves.
#[test]
fn a_killed_run_continues_with_the_same_table() {
    // How many segments a solver lives to write.
    for (name, n_segments) in [
        ("tic_tac_toe", 1),
        ("connect_three", 1),
        ("nim", 1),
        ("endless_tree", 40),
        ("shut_the_box", 1),
        ("rock_paper_scissors", 1),
        ("blocks_world", 4),
    ] {
        let game = shipped(name);
        let new = || Solver::new(&game, 1 << 30, 1, &Cancel::new()).unwrap();
        let whole = finish(new(), &Alone).unwrap();
        let progress = whole.progress();
        let (value, whole) = (whole.value(), bytes(whole));
        let mut file: Vec<u8> = Vec::new();
        let mut n_lives = 0;
        let last = loop {
            // Half of a segment is left behind by the last one.
            let mut solver = new();
            let n_bytes = solver.resume(&mut file.as_slice()).unwrap();
            file.truncate(usize::try_from(n_bytes).unwrap());
            let (mut n_left, mut is_done) = (n_segments, false);
            while !is_done && n_left > 0 {
                solver.step(&Alone).unwrap();
                let n_before = file.len();
                solver.save(&mut file).unwrap();
                n_left -= u32::from(file.len() > n_before);
                is_done = solver.progress().phase == Phase::Done;
            }
            n_lives += 1;
            if is_done {
                break solver;
            }
            assert!(n_lives < 1000, "{name} does not end");
            file.extend_from_slice(&[1, 0, 0, 0, 0]);
        };
        assert!(n_lives > 2, "{name}: {n_lives}");
        let states = |progress: games::solve::Progress| (progress.n_states, progress.n_terminal);
        assert_eq!(states(last.progress()), states(progress), "{name}");
        assert_eq!(last.value(), value, "{name}");
        assert!(bytes(last) == whole, "{name}: {n_lives}");
    }
}

#[test]
fn a_checkpoint_of_another_game_is_refused() {
    let new = |name: &str| Solver::new(&shipped(name), 1 << 30, 1, &Cancel::new()).unwrap();
    let mut file = Vec::new();
    let mut solver = new("nim");
    solver.step(&Alone).unwrap();
    solver.save(&mut file).unwrap();
    let refused = new("tic_tac_toe").resume(&mut file.as_slice()).unwrap_err().to_string();
    assert!(refused.contains("of another game"), "{refused}");
    assert_eq!(new("nim").resume(&mut file.as_slice()).unwrap(), file.len() as u64);
    // What is cut off is left out, and what is not a checkpoint has no segment.
    let cut = new("nim").resume(&mut &file[..file.len() - 1]).unwrap();
    assert!(cut > 0 && cut < file.len() as u64, "{cut}");
    assert_eq!(new("nim").resume(&mut &b"gm-table, or whatever it is"[..]).unwrap(), 0);
}
