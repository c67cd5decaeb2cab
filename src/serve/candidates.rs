//! The possible states of a game of hidden information, given what the role observed.
//!
//! The search is depth first, step by step: as soon as one state fits all observations, a
//! legal move is known, because in a sound game the role has the same moves in all of them.
//! A search that is stopped continues with the next request. If none of the kept states
//! fits, it returns to an earlier step and searches for more.

use std::collections::BTreeSet;

use games::{Expression, MoveId, ReasoningError, RoleId, State, StateMachine};
use players::Stop;

use super::joint_moves::JointMoves;

/// Maximum number of states of the last step that are looked for, once there is one.
const MAX_STATES: usize = 500;
/// Maximum number of joint moves that are tried for more states than one.
const MAX_TRIES: u64 = 20_000;
/// Steps that a search can go back; what is older is not thought over again,
/// which bounds the memory of a long match.
const MAX_LAYERS: usize = 20;

/// What a role learns of a step.
pub(super) struct Heard {
    /// Its own move as it was executed, if that is known.
    pub(super) own_move: Option<MoveId>,
    /// The move it answered, which is tried first if it is not known.
    pub(super) answered: Option<MoveId>,
    /// Its percepts, in lower case.
    seen: BTreeSet<String>,
}

impl Heard {
    pub(super) fn new(
        own_move: Option<MoveId>,
        answered: Option<MoveId>,
        percepts: &[Expression],
    ) -> Self {
        Self { own_move, answered, seen: percepts.iter().map(lower_case).collect() }
    }

    fn fits(&self, percepts: &[Expression]) -> bool {
        percepts.len() == self.seen.len()
            && percepts.iter().all(|one| self.seen.contains(&lower_case(one)))
    }
}

fn lower_case(percept: &Expression) -> String {
    percept.to_string().to_ascii_lowercase()
}

/// The first joint move that was found to fit the last step.
#[derive(Clone)]
pub(super) struct Explanation {
    pub(super) own_move: MoveId,
    /// In the rulesheet's spelling and order.
    pub(super) percepts: Vec<Expression>,
}

/// The states after one step.
struct Layer {
    /// In the order in which they were found.
    states: Vec<State>,
    known: BTreeSet<State>,
    explanation: Option<Explanation>,
    /// What is known of the step.
    heard: Heard,
    /// The state of the layer before whose joint moves are being tried.
    parent: usize,
    joint_moves: Option<JointMoves>,
}

/// How the search for one more state ended.
#[derive(Debug, PartialEq, Eq)]
enum Growth {
    Found,
    Exhausted,
    Stopped,
}

/// The states that fit.
pub(super) struct Candidates {
    role: RoleId,
    /// The first layer is where the match began, or what is left of the search
    /// that far back.
    layers: Vec<Layer>,
    /// Joint moves tried for the question at hand.
    n_tries: u64,
}

impl Candidates {
    /// At the beginning of a match there is no doubt.
    pub(super) fn new(role: RoleId, initial: State) -> Self {
        let layer = Layer::new(vec![initial], Heard::new(None, None, &[]));
        Self { role, layers: vec![layer], n_tries: 0 }
    }

    /// Adds what is known of one more step.
    pub(super) fn add(&mut self, heard: Heard) {
        self.layers.push(Layer::new(Vec::new(), heard));
        if self.layers.len() > MAX_LAYERS {
            self.layers.remove(0);
        }
    }

    /// A state that fits everything heard, if one is known.
    pub(super) fn first(&self) -> Option<&State> {
        self.layers.last()?.states.first()
    }

    /// What happened in the last step, if that is known.
    pub(super) fn explanation(&self) -> Option<&Explanation> {
        self.layers.last()?.explanation.as_ref()
    }

    /// Looks for a state that fits until there is one or `stop` is due.
    pub(super) fn find_one(&mut self, machine: &mut dyn StateMachine, stop: &Stop) {
        self.n_tries = 0;
        if self.first().is_none() {
            self.grow(machine, self.layers.len() - 1, stop);
        }
    }

    /// Looks for more states that fit, so that there are some left after the
    /// steps to come.
    pub(super) fn find_more(&mut self, machine: &mut dyn StateMachine, stop: &Stop) {
        let last = self.layers.len() - 1;
        while self.n_tries < MAX_TRIES
            && self.layers[last].states.len() < MAX_STATES
            && self.grow(machine, last, stop) == Growth::Found
        {}
    }

    /// Finds one state more of the layer `at`.
    fn grow(&mut self, machine: &mut dyn StateMachine, at: usize, stop: &Stop) -> Growth {
        if at == 0 {
            return Growth::Exhausted;
        }
        loop {
            if stop.is_due(self.n_tries) {
                return Growth::Stopped;
            }
            let role = self.role;
            let (before, layer) = self.step(at);
            let Some(parent) = before.states.get(layer.parent) else {
                match self.grow(machine, at - 1, stop) {
                    Growth::Found => continue,
                    other => return other,
                }
            };
            match layer.try_next(machine, parent, role) {
                Ok(Tried::Fits) => return Growth::Found,
                Ok(Tried::FitsNot) => self.n_tries += 1,
                Err(ReasoningError::Cancelled) => return Growth::Stopped,
                // Where the rules fail, nothing is to be found either.
                Ok(Tried::All) | Err(_) => layer.next_parent(),
            }
        }
    }

    /// The layer `at` and the one before it.
    fn step(&mut self, at: usize) -> (&Layer, &mut Layer) {
        let (before, rest) = self.layers.split_at_mut(at);
        (&before[at - 1], &mut rest[0])
    }
}

enum Tried {
    Fits,
    FitsNot,
    /// There are no joint moves left.
    All,
}

impl Layer {
    fn new(states: Vec<State>, heard: Heard) -> Self {
        let known = BTreeSet::new();
        Self { states, known, explanation: None, heard, parent: 0, joint_moves: None }
    }

    /// Tries the next joint move from `parent`.
    fn try_next(
        &mut self,
        machine: &mut dyn StateMachine,
        parent: &State,
        role: RoleId,
    ) -> Result<Tried, ReasoningError> {
        let joint_moves = match &mut self.joint_moves {
            Some(joint_moves) => joint_moves,
            None => {
                let Heard { own_move, answered, .. } = self.heard;
                self.joint_moves.insert(JointMoves::new(machine, parent, |of, moves| {
                    if of != role {
                        return;
                    }
                    if let Some(own_move) = own_move {
                        *moves = vec![own_move];
                    } else if let Some(at) = moves.iter().position(|&one| Some(one) == answered) {
                        moves[..=at].rotate_right(1);
                    }
                })?)
            }
        };
        let Some(joint) = joint_moves.current() else { return Ok(Tried::All) };
        let percepts = machine.percepts(parent, &joint, role)?;
        let mut next = State::default();
        let fits = self.heard.fits(&percepts);
        if fits {
            machine.next_state(parent, &joint, &mut next)?;
        }
        // Not before: whoever is cancelled tries the same one again.
        joint_moves.advance();
        if !fits || !self.known.insert(next.clone()) {
            return Ok(Tried::FitsNot);
        }
        self.states.push(next);
        let own_move = joint[usize::from(role.0)];
        self.explanation.get_or_insert(Explanation { own_move, percepts });
        Ok(Tried::Fits)
    }

    fn next_parent(&mut self) {
        self.parent += 1;
        self.joint_moves = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use games::{Case, Guards, Leniency, Rulesheet, state_machine_for, validate};

    use super::*;

    /// `other` hides numbers; `me` sees their sum after the second step only.
    const HIDDEN_NUMBERS: &str = "
        (role me) (role other)
        (init (step 0))
        (number 1) (number 2) (number 3)
        (after 0 1) (after 1 2) (after 2 3)
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= (legal me (wait ?n)) (true (step ?n)))
        (<= (legal other (hide ?n)) (number ?n))
        (<= (next (hidden ?m ?n)) (true (step ?m)) (does other (hide ?n)))
        (<= (next (hidden ?m ?n)) (true (hidden ?m ?n)))
        (<= (sees me (both ?a ?b)) (true (step 1)) (true (hidden 0 ?a)) (does other (hide ?b)))
        (<= terminal (true (step 3)))
        (goal me 0) (goal other 100)";

    fn machine() -> Box<dyn StateMachine> {
        let rulesheet = Rulesheet::parse("hidden", HIDDEN_NUMBERS, Case::Folded).unwrap();
        let game = validate(&rulesheet, Leniency::Lenient).game.unwrap();
        state_machine_for(Arc::new(game), Guards::default()).unwrap()
    }

    fn heard(machine: &mut dyn StateMachine, own: &str, percepts: &[&str]) -> Heard {
        let own_move = machine.find_move(&own.parse().unwrap());
        let percepts: Vec<Expression> = percepts.iter().map(|one| one.parse().unwrap()).collect();
        Heard::new(own_move, None, &percepts)
    }

    fn facts(machine: &dyn StateMachine, candidates: &Candidates) -> Option<String> {
        let state = candidates.first()?;
        Some(machine.facts(state).iter().map(|fact| fact.to_string() + " ").collect())
    }

    #[test]
    fn a_search_goes_back_when_nothing_it_kept_fits() {
        let mut machine = machine();
        let initial = machine.initial_state().unwrap();
        let mut candidates = Candidates::new(RoleId(0), initial);
        let never = Stop::never();
        candidates.add(heard(&mut *machine, "(wait 0)", &[]));
        // Only one of the three states is looked for.
        candidates.find_one(&mut *machine, &never);
        assert!(facts(&*machine, &candidates).unwrap().contains("(hidden 0 1)"));
        candidates.add(heard(&mut *machine, "(wait 1)", &["(BOTH 3 2)"]));
        candidates.find_one(&mut *machine, &never);
        let found = facts(&*machine, &candidates).unwrap();
        assert!(found.contains("(hidden 0 3)") && found.contains("(hidden 1 2)"), "{found}");
        assert_eq!(candidates.explanation().unwrap().percepts[0].to_string(), "(both 3 2)");
        candidates.find_more(&mut *machine, &never);
        assert_eq!(candidates.layers.last().unwrap().states.len(), 1);
        // What cannot be has no state, and the search has an end.
        candidates.add(heard(&mut *machine, "(wait 2)", &["(both 1 1)"]));
        candidates.find_one(&mut *machine, &never);
        assert_eq!(facts(&*machine, &candidates), None);
    }

    #[test]
    fn a_search_that_is_stopped_goes_on_where_it_was() {
        let mut machine = machine();
        let initial = machine.initial_state().unwrap();
        let mut candidates = Candidates::new(RoleId(0), initial);
        candidates.add(heard(&mut *machine, "(wait 0)", &[]));
        candidates.add(heard(&mut *machine, "(wait 1)", &["(both 3 3)"]));
        let mut n_questions = 0;
        while candidates.first().is_none() {
            candidates.find_one(&mut *machine, &Stop::never().after_nodes(1));
            assert!(candidates.n_tries <= 1);
            n_questions += 1;
        }
        // Nine pairs of numbers, the last of which it is.
        assert_eq!(n_questions, 9);
        let now = std::time::Instant::now();
        candidates.add(heard(&mut *machine, "(wait 2)", &[]));
        candidates.find_one(&mut *machine, &Stop::never().at(now));
        assert!(candidates.first().is_none(), "time was over before anything was tried");
        let cancel = games::Cancel::new();
        cancel.cancel();
        candidates.find_one(&mut *machine, &Stop::never().on(cancel));
        assert!(candidates.first().is_none(), "the question was taken back");
        candidates.find_one(&mut *machine, &Stop::never());
        assert!(candidates.first().is_some());
    }

    #[test]
    fn a_long_match_keeps_no_more_than_its_last_steps() {
        let mut machine = machine();
        let initial = machine.initial_state().unwrap();
        let mut candidates = Candidates::new(RoleId(0), initial);
        for _ in 0..3 * MAX_LAYERS {
            candidates.add(Heard::new(None, None, &[]));
            candidates.find_one(&mut *machine, &Stop::never());
            candidates.find_more(&mut *machine, &Stop::never());
        }
        assert_eq!(candidates.layers.len(), MAX_LAYERS);
    }
}
