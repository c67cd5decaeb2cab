//! The order of rules and of the conditions in them means nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use games::{
    Case, Expression, Guards, Leniency, MoveId, RoleId, State, StateMachine, library,
    state_machine_for, validate,
};
use proptest::prelude::*;

use super::random::Random;

fn machine(text: &str) -> Box<dyn StateMachine> {
    let game = validate::read("test", text, Case::Folded, Leniency::Strict).game.unwrap();
    state_machine_for(Arc::new(game), Guards::default()).unwrap()
}

/// The same rules in another order; roles stay as they are.
fn shuffled(machine: &dyn StateMachine, random: &mut Random) -> String {
    let is_role = |form: &Expression| form.to_string().starts_with("(role ");
    let (roles, mut others): (Vec<_>, Vec<_>) =
        machine.game().forms().iter().cloned().partition(is_role);
    random.shuffle(&mut others);
    for form in &mut others {
        if let Expression::List(items) = form
            && items[0] == Expression::atom("<=")
        {
            random.shuffle(&mut items[2..]);
        }
    }
    roles.iter().chain(&others).map(|form| format!("{form}\n")).collect()
}

/// All answers about a state, as sets of texts, and the moves by role.
fn answers(
    machine: &mut dyn StateMachine,
    state: &State,
) -> (BTreeSet<String>, Vec<BTreeSet<String>>) {
    let mut about: BTreeSet<String> =
        machine.facts(state).iter().map(ToString::to_string).collect();
    about.insert(format!("terminal {}", machine.is_terminal(state).unwrap()));
    let n_roles = machine.game().roles().len();
    let mut legal = Vec::new();
    for role in 0..n_roles {
        let role = RoleId(role as u8);
        about.insert(format!("{role:?} {:?}", machine.goal(state, role).unwrap()));
        let mut moves = Vec::new();
        machine.legal_moves(state, role, &mut moves).unwrap();
        legal.push(moves.iter().map(|&id| machine.move_expression(id).to_string()).collect());
    }
    (about, legal)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_does_not_matter(at in 0..library::all().len(), seed: u64) {
        let mut random = Random::new(seed);
        let mut one = machine(library::all()[at].text);
        let mut other = machine(&shuffled(&*one, &mut random));
        let mut state = one.initial_state().unwrap();
        let mut same = other.initial_state().unwrap();
        for _ in 0..12 {
            let (about, legal) = answers(&mut *one, &state);
            prop_assert_eq!(&(about.clone(), legal.clone()), &answers(&mut *other, &same));
            if about.contains("terminal true") {
                break;
            }
            let chosen: Vec<Expression> = legal
                .iter()
                .map(|moves| moves.iter().nth(random.below(moves.len())).unwrap().parse().unwrap())
                .collect();
            let play = |machine: &mut dyn StateMachine, state: &mut State| {
                let moves: Vec<MoveId> =
                    chosen.iter().map(|chosen| machine.find_move(chosen).unwrap()).collect();
                let mut next = State::default();
                machine.next_state(state, &moves, &mut next).unwrap();
                *state = next;
                let seen = machine.percepts(state, &moves, RoleId(0)).unwrap();
                seen.iter().map(ToString::to_string).collect::<BTreeSet<_>>()
            };
            prop_assert_eq!(play(&mut *one, &mut state), play(&mut *other, &mut same));
        }
    }
}
