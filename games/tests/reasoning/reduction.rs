//! Reduced networks against those they come from: the same in every position of
//! random play.

#![expect(clippy::print_stderr, reason = "what was not compared is to be seen")]

use std::path::Path;
use std::sync::Arc;

use games::network::Lit;
use games::{
    Cancel, Case, Game, GroundingLimits, Leniency, Network, ReductionEffort, RoleId, ground,
    library, reduce, validate,
};

use super::random::Random;

/// Larger networks are compared by the slow tests only.
const MAX_CONJUNCTIONS: usize = 900;

fn is_slow() -> bool {
    std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| !value.is_empty() && value != "0")
}

#[test]
fn shipped_games_are_the_same_when_reduced() {
    let mut smaller = vec![];
    for shipped in library::all() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        let most = if is_slow() { 20_000 } else { MAX_CONJUNCTIONS };
        if check(Arc::new(game.unwrap()), most) == Some(true) {
            smaller.push(shipped.name);
        }
    }
    // Rewards of bidding and betting games have much in common that rules write
    // down several times.
    for name in ["bidding_tic_tac_toe", "kuhn_poker", "breakthrough_6x6"] {
        assert!(smaller.contains(&name), "{name} not among {smaller:?}");
    }
}

#[test]
fn published_games_are_the_same_when_reduced() {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS").filter(|_| is_slow()) else {
        eprintln!("skipped: GAMEMASTER_CORPUS names no folder, or RUN_SLOW_TESTS is not set");
        return;
    };
    let folder = Path::new(&folder).join("rulesheets");
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut n_compared, mut n_smaller) = (0, 0);
    for path in &paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read(path).unwrap();
        let game = validate::read(name, &text, Case::Sensitive, Leniency::Lenient).game;
        let found = check(Arc::new(game.unwrap()), 3000);
        n_compared += usize::from(found.is_some());
        n_smaller += usize::from(found == Some(true));
    }
    eprintln!("{n_compared} of {} compared, {n_smaller} are smaller", paths.len());
    assert!(n_compared > paths.len() / 3);
}

/// Whether the network of a game could be made smaller; `None` if it was not
/// tried, or not proven.
fn check(game: Arc<Game>, max_conjunctions: usize) -> Option<bool> {
    let budget = GroundingLimits {
        max_steps: 30_000_000,
        max_bytes: 256 << 20,
        max_reduced: 0,
        ..GroundingLimits::default()
    };
    let network = ground(&game, &budget, &Cancel::new()).ok()?;
    if network.graph.n_ands() > max_conjunctions {
        return None;
    }
    // Few samples leave many wrong candidates: proofs have to sort them out.
    let effort = ReductionEffort { samples: 12, ..ReductionEffort::default() };
    let reduced = reduce(&network, &effort, &Cancel::new())?.network;
    assert_eq!(reduced.facts, network.facts);
    assert_eq!(reduced.initial, network.initial);
    for (one, other) in reduced.roles.iter().zip(&network.roles) {
        assert_eq!(one.moves, other.moves);
    }
    assert!(reduced.graph.n_ands() <= network.graph.n_ands(), "{}", game.name());
    for walk in 0..20 {
        compare(&network, &reduced, &mut Random::new(walk));
    }
    Some(reduced.graph.n_ands() < network.graph.n_ands())
}

/// Some steps of random play by the plain meaning of both graphs.
fn compare(network: &Network, reduced: &Network, random: &mut Random) {
    let mut facts = network.initial.clone();
    for step in 0..40 {
        let mut inputs = facts.clone();
        inputs.resize(network.graph.n_inputs(), false);
        let quiet = network.graph.evaluate(&inputs);
        let is_terminal = value(&quiet, network.terminal);
        let mut is_over = is_terminal;
        for (role, outputs) in network.roles.iter().enumerate() {
            let legal: Vec<usize> =
                (0..outputs.moves.len()).filter(|&at| value(&quiet, outputs.legal[at])).collect();
            match legal.is_empty() {
                true => is_over = true,
                false => {
                    let chosen = legal[random.below(legal.len())];
                    inputs[network.first_move(RoleId(role as u8)) + chosen] = true;
                }
            }
        }
        let (ours, theirs) = (reduced.graph.evaluate(&inputs), network.graph.evaluate(&inputs));
        let same = |ours_lit: Lit, theirs_lit: Lit, what: &str| {
            assert_eq!(
                value(&ours, ours_lit),
                value(&theirs, theirs_lit),
                "{}, step {step}: {what}",
                network.game.name()
            );
        };
        same(reduced.terminal, network.terminal, "terminal");
        for (one, other) in reduced.roles.iter().zip(&network.roles) {
            for (a, b) in one.legal.iter().zip(&other.legal) {
                same(*a, *b, "legal");
            }
            for ((_, a), (_, b)) in one.goals.iter().zip(&other.goals) {
                same(*a, *b, "goal");
            }
            if !is_over {
                for ((_, a), (_, b)) in one.percepts.iter().zip(&other.percepts) {
                    same(*a, *b, "sees");
                }
            }
        }
        if is_over {
            return;
        }
        for (a, b) in reduced.next.iter().zip(&network.next) {
            same(*a, *b, "next");
        }
        facts = network.next.iter().map(|&lit| value(&theirs, lit)).collect();
    }
}

fn value(values: &[bool], lit: Lit) -> bool {
    values[lit.node() as usize] ^ lit.is_negated()
}
