//! A single pass over the gates that matter in the position's class.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::class_programs::ClassPrograms;
use super::joint_code::JointCode;
use crate::RoleId;
use crate::compiled_network::features::{self, Avx2, Avx512, Evidence, Kernel, nth_bit};
use crate::compiled_network::packed::{FACTS, PackedProgram, Places, WORD, spread};
use crate::network::Evaluator;

/// Which results the slots hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    /// Legal moves and the end.
    State,
    /// The next state. Computing it overwrote values that it needs.
    Next,
}

/// What an evaluator has for a position class.
#[derive(Debug)]
struct ClassPass {
    program: Arc<PackedProgram>,
    joint_code: JointCode,
}

impl ClassPass {
    /// Computes the next facts after moves, given as inputs. `first_move` is the slot of the first
    /// one, less its input.
    #[inline(always)]
    fn run_next(&self, slots: &mut [u64], first_move: usize, moves: &[u32]) {
        for &input in moves {
            slots[first_move + input as usize] = !0;
        }
        self.program.run_next(slots);
        for &input in moves {
            slots[first_move + input as usize] = 0;
        }
    }
}

/// The legal moves of a role.
#[derive(Debug)]
struct RoleMoves {
    /// The input of the role's first move.
    first_move: u32,
    /// The first slot of its legal moves as bits, and the number of these slots.
    legal: usize,
    n_words: usize,
    /// The number of legal moves.
    n_legal: usize,
}

/// An evaluator with a single pass for each position class.
#[derive(Debug)]
pub(super) struct ClassPasses {
    programs: Arc<ClassPrograms>,
    /// By class, once it was entered.
    passes: Vec<Option<ClassPass>>,
    class: usize,
    /// Where all programs have inputs and results.
    places: Places,
    /// If there is machine code: evidence that the CPU has AVX2.
    avx2: Option<Avx2>,
    /// Evidence that the CPU has AVX-512, also if programs are interpreted.
    avx512: Option<Avx512>,
    slots: Vec<u64>,
    n_words: usize,
    /// The slot of the first move, less its input.
    first_move: usize,
    /// The inputs of the moves that the next facts follow, if these are known.
    made: SmallVec<[u32; 4]>,
    /// By role: the input of the move for the next step.
    moves: Box<[u32]>,
    known: Known,
    is_terminal: bool,
    roles: Box<[RoleMoves]>,
    knows_goals: bool,
}

impl ClassPasses {
    /// An evaluator without a position. The code of frequent classes is compiled now.
    pub(super) fn new(programs: &Arc<ClassPrograms>) -> Self {
        let network = &programs.network;
        let places = Places::new(network);
        let of_role = |(id, &(legal, n_words)): (RoleId, &(usize, usize))| {
            let first_move = network.first_move(id) as u32;
            RoleMoves { first_move, legal, n_words, n_legal: 0 }
        };
        let mut passes = Self {
            roles: network.role_ids().zip(&places.legal).map(of_role).collect(),
            // Moves follow the facts, which end with a whole byte.
            first_move: places.moves - network.n_facts(),
            places,
            avx2: Avx2::detect(),
            avx512: Avx512::detect(),
            slots: Vec::new(),
            n_words: network.n_state_words(),
            made: SmallVec::new(),
            moves: network.role_ids().map(|role| network.first_move(role) as u32).collect(),
            known: Known::Nothing,
            is_terminal: false,
            knows_goals: false,
            programs: Arc::clone(programs),
            passes: programs.classes().all().map(|_| None).collect(),
            class: 0,
        };
        for class in programs.classes().all() {
            if programs.is_often(class) || class == 0 {
                passes.first_enter(class);
            }
        }
        passes
    }

    #[cold]
    fn first_enter(&mut self, class: usize) {
        let program = Arc::clone(self.programs.of_class(class));
        let joint_code = JointCode::new(&program);
        if self.slots.is_empty() {
            self.slots = program.blank_slots();
        }
        self.slots.resize(self.slots.len().max(program.n_slots), 0);
        if !program.is_translated() {
            self.avx2 = None;
        }
        self.passes[class] = Some(ClassPass { program, joint_code });
    }

    /// Carries out what is compiled for the CPU's instructions.
    #[inline]
    fn run<W: Work>(&mut self, work: W) -> W::Output {
        match (self.avx512, self.avx2) {
            (Some(proof), _) => features::run(Running { passes: self, work, _proof: proof }, proof),
            (None, Some(proof)) => {
                features::run(Running { passes: self, work, _proof: proof }, proof)
            }
            (None, None) => features::run(Running { passes: self, work, _proof: () }, ()),
        }
    }

    /// Makes moves, goes on to the next position, and adds its facts to `words`.
    #[inline]
    pub(super) fn step(&mut self, moves: &[u32], words: &mut Vec<u64>) {
        self.moves.copy_from_slice(moves);
        self.run(Advance(words));
    }

    /// As [`step`](Self::step), by moves whose numbers among the legal ones `choose` gives; `false`
    /// if the position is terminal or a role has no legal move.
    #[inline]
    pub(super) fn step_chosen(
        &mut self,
        choose: &mut dyn FnMut(usize) -> usize,
        words: &mut Vec<u64>,
    ) -> bool {
        !self.is_terminal && self.run(Choose { choose, words })
    }

    /// The legal moves of a role as bits, and their number.
    #[inline]
    pub(super) fn counted_legal(&self, role: usize) -> (&[u64], usize) {
        let role = &self.roles[role];
        (&self.slots[role.legal..role.legal + role.n_words], role.n_legal)
    }

    /// The indices of the goal values that the rules give a role.
    #[inline]
    pub(super) fn goals(&mut self, role: usize) -> impl Iterator<Item = usize> {
        let first = self.programs.first_goals[role];
        let n = self.programs.network.roles[role].goals.len();
        self.compute_goals();
        bits(&self.slots[self.places.goals.0..], first..first + n)
    }

    #[inline]
    fn compute_goals(&mut self) {
        if !self.knows_goals {
            let Self { passes, class, slots, .. } = self;
            passes[*class].as_ref().expect("entered").program.run_goals(slots);
            self.knows_goals = true;
        }
    }

    /// Whether the position is terminal.
    #[inline]
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Goes to the position whose facts are in their slots, as bits and each in one of its own.
    #[inline(always)]
    fn enter(&mut self) {
        let words = &self.slots[self.places.facts..][..self.n_words];
        let class = self.programs.classes().class(words);
        if class != self.class {
            self.class = class;
            if self.passes[class].is_none() {
                self.first_enter(class);
            }
        }
        self.compute_state();
    }

    /// Writes all facts of a word into slots of their own.
    #[inline(always)]
    fn spread(&mut self, at: usize) {
        let word = self.slots[self.places.facts + at];
        let first = FACTS + at * WORD;
        let end = self.places.moves.min(first + WORD);
        spread(word, &mut self.slots[first..end], self.avx2);
    }

    /// Changes facts of a word in their slots.
    #[inline(always)]
    fn flip(&mut self, at: usize, mut changes: u64) {
        let slots = &mut self.slots[FACTS + at * WORD..];
        while changes != 0 {
            let slot = &mut slots[changes.trailing_zeros() as usize];
            *slot = !*slot;
            changes &= changes - 1;
        }
    }

    #[inline(always)]
    fn compute_state(&mut self) {
        let Self { passes, class, slots, roles, .. } = self;
        let slots = slots.as_mut_slice();
        let ClassPass { program, .. } = passes[*class].as_ref().expect("entered");
        program.run_state(slots);
        self.is_terminal = slots[program.terminal] != 0;
        for role in &mut **roles {
            role.n_legal = count(&slots[role.legal..role.legal + role.n_words]);
        }
        self.known = Known::State;
        self.knows_goals = false;
    }

    /// Makes moves and computes the next facts.
    #[inline(always)]
    fn compute_next(&mut self, moves: &[u32]) {
        if self.known != Known::State {
            self.compute_state();
        }
        let Self { passes, class, slots, first_move, .. } = self;
        passes[*class].as_ref().expect("entered").run_next(slots, *first_move, moves);
        self.known = Known::Next;
    }

    /// Makes the moves, goes on to the next position, and adds its facts to `words`.
    #[inline(always)]
    fn advance(&mut self, words: &mut Vec<u64>) {
        let Self { passes, class, slots, known, moves, first_move, .. } = self;
        let pass = passes[*class].as_mut().expect("entered");
        if *known != Known::State {
            pass.program.run_state(slots);
        }
        if !pass.joint_code.run(moves, slots) {
            pass.run_next(slots, *first_move, moves);
            if pass.joint_code.is_due() {
                let ClassPass { program, joint_code } = pass;
                let n_slots =
                    joint_code.compile(&program.network, &self.programs.joint_code[*class]);
                slots.resize(slots.len().max(n_slots), 0);
            }
        }
        let n_words = self.n_words;
        words.reserve(n_words);
        for at in 0..n_words {
            let word = self.slots[self.places.next + at];
            words.push(word);
            let fact = &mut self.slots[self.places.facts + at];
            let changes = *fact ^ word;
            *fact = word;
            if changes.count_ones() > FEW {
                self.spread(at);
            } else {
                self.flip(at, changes);
            }
        }
        self.enter();
    }

    /// The next facts.
    #[inline(always)]
    fn next_facts(&self) -> &[u64] {
        &self.slots[self.places.next..][..self.n_words]
    }
}

/// The number of bits.
#[inline(always)]
fn count(words: &[u64]) -> usize {
    match words {
        [word] => word.count_ones() as usize,
        words => words.iter().map(|word| word.count_ones() as usize).sum(),
    }
}

/// The numbers of the bits that are set among some of those of words, counted from the first of
/// these.
fn bits(words: &[u64], among: Range<usize>) -> impl Iterator<Item = usize> {
    let Range { start, end } = among;
    let mut at = start;
    std::iter::from_fn(move || {
        while at < end {
            let rest = words[at / WORD] >> (at % WORD);
            if rest & 1 == 1 {
                at += 1;
                return Some(at - 1 - start);
            }
            // On to the next one that is set, or to the next word.
            at += (rest.trailing_zeros() as usize).min(WORD - at % WORD);
        }
        None
    })
}

/// Of a word with more changes than this, all bits are written into slots.
const FEW: u32 = 6;

/// What is compiled for the CPU's instructions.
trait Work {
    /// The result.
    type Output;

    /// Does it.
    fn carry_out(self, passes: &mut ClassPasses) -> Self::Output;
}

/// Some work and evidence of the instructions.
struct Running<'a, W, P> {
    passes: &'a mut ClassPasses,
    work: W,
    _proof: P,
}

impl<W: Work, P: Evidence> Kernel for Running<'_, W, P> {
    type Output = W::Output;
    type Proof = P;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.work.carry_out(self.passes)
    }
}

/// Goes to a position.
struct Enter<'a>(&'a [u64]);

impl Work for Enter<'_> {
    type Output = ();

    #[inline(always)]
    fn carry_out(self, passes: &mut ClassPasses) {
        let n_facts = passes.programs.network.n_facts();
        debug_assert!(bits(self.0, n_facts..self.0.len() * WORD).next().is_none(), "not a fact");
        passes.slots[passes.places.facts..][..passes.n_words].copy_from_slice(self.0);
        for at in 0..passes.n_words {
            passes.spread(at);
        }
        passes.enter();
    }
}

/// Makes moves.
struct Make<'a>(&'a [u32]);

impl Work for Make<'_> {
    type Output = ();

    #[inline(always)]
    fn carry_out(self, passes: &mut ClassPasses) {
        passes.compute_next(self.0);
    }
}

/// Makes the moves and goes on to the next position, whose facts are added to the words.
struct Advance<'a>(&'a mut Vec<u64>);

impl Work for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn carry_out(self, passes: &mut ClassPasses) {
        passes.advance(self.0);
    }
}

/// As [`Advance`], by moves that are chosen by their numbers; `false` if a role has none.
struct Choose<'a, 'b> {
    choose: &'a mut dyn FnMut(usize) -> usize,
    words: &'b mut Vec<u64>,
}

impl Work for Choose<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn carry_out(self, passes: &mut ClassPasses) -> bool {
        let ClassPasses { slots, roles, moves, .. } = &mut *passes;
        for (role, chosen) in roles.iter().zip(&mut **moves) {
            if role.n_legal == 0 {
                return false;
            }
            let mut number = (self.choose)(role.n_legal);
            assert!(number < role.n_legal, "move {number} of {}", role.n_legal);
            let legal = &slots[role.legal..role.legal + role.n_words];
            let mut at = 0;
            // The last word has what is left.
            while at + 1 < legal.len() {
                let n_here = legal[at].count_ones() as usize;
                if number < n_here {
                    break;
                }
                number -= n_here;
                at += 1;
            }
            *chosen = role.first_move + (at * WORD + nth_bit(legal[at], number)) as u32;
        }
        passes.advance(self.words);
        true
    }
}

impl Evaluator for ClassPasses {
    fn load(&mut self, state: &[u64]) {
        // States have few words, so that they are compared here and not by a call.
        let facts = &self.slots[self.places.facts..][..self.n_words];
        if self.known == Known::Nothing || facts != state {
            self.run(Enter(state));
        }
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        let (bits, _) = self.counted_legal(role);
        bits[index / WORD] >> (index % WORD) & 1 == 1
    }

    fn legal(&mut self, role: usize) -> &[u64] {
        self.counted_legal(role).0
    }

    fn make(&mut self, moves: &[u32]) {
        if self.known != Known::Next || *self.made != *moves {
            self.run(Make(moves));
            self.made = moves.into();
        }
    }

    fn next(&mut self) -> &[u64] {
        self.next_facts()
    }

    fn input(&self, index: usize) -> bool {
        match index < self.programs.network.n_facts() {
            true => self.slots[FACTS + index] != 0,
            false => self.known == Known::Next && self.made.contains(&(index as u32)),
        }
    }

    fn goal(&mut self, role: usize, index: usize) -> bool {
        self.compute_goals();
        let at = self.programs.first_goals[role] + index;
        self.slots[self.places.goals.0 + at / WORD] >> (at % WORD) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::differential::Circuit;
    use super::super::frequent_classes::FrequentClasses;
    use super::*;
    use crate::network::{Lit, Network};
    use crate::split_mix::SplitMix;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};

    fn network(name: &str) -> Arc<Network> {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        Arc::new(ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap())
    }

    /// Plays at random and compares each step with the plain evaluation of the graph, also after
    /// joint moves got code; the number of these.
    fn check(name: &str) -> usize {
        let network = network(name);
        let graph = &network.graph;
        let (_, walk) = Circuit::new(&network);
        let (frequent, _) = FrequentClasses::choose(&network, &walk, u64::from(u32::MAX));
        let programs = Arc::new(ClassPrograms::new(Arc::clone(&network), frequent));
        let mut passes = ClassPasses::new(&programs);
        let initial = network.initial_state().words;
        let (mut random, mut words) = (SplitMix::new(1), initial.clone());
        passes.load(&initial);
        for step in 0..10_000 {
            let position = words.split_off(words.len() - initial.len());
            words.clone_from(&position);
            let mut numbers = Vec::new();
            let mut choose = |n| {
                numbers.push(random.below(n));
                numbers[numbers.len() - 1]
            };
            let is_played = passes.step_chosen(&mut choose, &mut words);
            let mut inputs: Vec<bool> = (0..network.n_facts())
                .map(|fact| position[fact / WORD] >> (fact % WORD) & 1 == 1)
                .collect();
            inputs.resize(graph.n_inputs(), false);
            let holds = |values: &[bool], lit: Lit| values[lit.node() as usize] ^ lit.is_negated();
            let values = graph.evaluate(&inputs);
            if !is_played {
                assert!(holds(&values, network.terminal), "{name}, step {step}");
                for (at, role) in network.roles.iter().enumerate() {
                    let given =
                        (0..role.goals.len()).filter(|&goal| holds(&values, role.goals[goal].1));
                    assert!(passes.goals(at).eq(given), "{name}, step {step}");
                }
                words.clone_from(&initial);
                passes.load(&initial);
                continue;
            }
            let mut moves = Vec::new();
            for ((id, role), &number) in network.role_ids().zip(&network.roles).zip(&numbers) {
                let legal = (0..role.moves.len()).filter(|&at| holds(&values, role.legal[at]));
                moves.push((network.first_move(id) + legal.clone().nth(number).unwrap()) as u32);
            }
            moves.iter().for_each(|&input| inputs[input as usize] = true);
            let values = graph.evaluate(&inputs);
            let next = network.state_where(|fact| holds(&values, network.next[fact])).words;
            assert_eq!(words[initial.len()..], next, "{name}, step {step}");
            if step % 7 == 0 {
                // The same by moves that are made first, and again by a step after that.
                passes.load(&position);
                passes.make(&moves);
                assert_eq!(passes.next(), next, "{name}, step {step}");
                let holds: Vec<bool> = (0..inputs.len()).map(|input| passes.input(input)).collect();
                assert_eq!(holds, inputs, "{name}, step {step}");
                words.truncate(initial.len());
                passes.step(&moves, &mut words);
                assert_eq!(words[initial.len()..], next, "{name}, step {step}");
            }
        }
        passes.passes.iter().flatten().map(|pass| pass.joint_code.n_functions()).sum()
    }

    #[test]
    fn bits_are_found_across_words() {
        let words = [1 << 63, 0, 0b11, 1 << 5];
        let found = |among: Range<usize>| bits(&words, among).collect::<Vec<_>>();
        assert_eq!(found(0..256), [63, 128, 129, 197]);
        assert_eq!(found(63..129), [0, 65]);
        assert_eq!(found(64..128), []);
        assert_eq!(found(129..197), [0]);
        assert_eq!(found(129..198), [0, 68]);
        assert_eq!(found(128..128), []);
    }

    #[test]
    fn steps_are_those_of_the_graph() {
        // With position classes, with moves at the same time, and with several words.
        let names = ["breakthrough_5x5", "connect_four", "othello_4x4", "tron", "fifteen_puzzle"];
        let n_coded: usize = names.into_iter().map(check).sum();
        assert_eq!(n_coded > 0, Avx2::detect().is_some());
    }
}
