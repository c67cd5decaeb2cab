//! Small valid games made from numbers: roles, facts, recursion within a state,
//! negation, `distinct`, `or`, functions, percepts, defects that the rules of GDL
//! allow a validator not to see (stuck roles, several goals or none). A shorter
//! list of smaller numbers is a simpler game, so that failures can be shrunk.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The ground terms that relations are about.
const TERMS: [&str; 5] = ["a", "b", "c", "(f a)", "(f b)"];

/// Variables for such terms; `?w` only ever stands within `(f ?w)`, also where a
/// term is built, so that none grows.
const VARIABLES: [&str; 3] = ["?x", "?y", "?z"];

/// The text of the game that the numbers stand for.
pub(crate) fn rulesheet(numbers: &[u16]) -> String {
    let mut generator = Generator { numbers: numbers.iter(), text: String::new(), roles: vec![] };
    generator.game();
    generator.text
}

/// What the conditions of a rule may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    /// The view of this number, and those before it.
    View(usize),
    Legal,
    Terminal,
    Goal,
    /// With the moves made.
    Move,
    /// With a view of the moves made.
    Next,
}

/// Views by number: their names and arities. The last one is about moves.
const VIEWS: [(&str, usize); 5] = [("v", 1), ("w", 2), ("reach", 2), ("u", 0), ("made", 1)];

/// Number of views of states.
const N_STATE_VIEWS: usize = 4;

struct Generator<'a> {
    numbers: std::slice::Iter<'a, u16>,
    text: String,
    roles: Vec<&'static str>,
}

/// The conditions of a rule while it is written.
#[derive(Default)]
struct Body {
    conditions: Vec<String>,
    /// Variables that some positive condition gives values.
    bound: BTreeSet<&'static str>,
    /// Variables that need one.
    needed: BTreeSet<&'static str>,
}

impl Generator<'_> {
    /// A number below `n`; 0 where the numbers are used up.
    fn below(&mut self, n: usize) -> usize {
        self.numbers.next().map_or(0, |&number| usize::from(number) % n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes all");
    }

    fn game(&mut self) {
        let last_step = 2 + self.below(6);
        self.roles = ["red", "blue", "random"][..1 + self.below(3)].to_vec();
        for role in self.roles.clone() {
            self.line(&format!("(role {role})"));
        }
        TERMS.iter().for_each(|term| self.line(&format!("(dom {term})")));
        for step in 0..last_step {
            self.line(&format!("(succ {step} {})", step + 1));
        }
        self.line("(edge a b)");
        for _ in 0..self.below(5) {
            let (from, to) = (self.ground(), self.ground());
            self.line(&format!("(edge {from} {to})"));
        }
        self.line("(<= (path ?x ?y) (edge ?x ?y))");
        self.line("(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))");
        self.line("(init (step 0))");
        for _ in 0..2 + self.below(6) {
            let fact = self.ground_fact();
            self.line(&format!("(init {fact})"));
        }
        self.line("(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))");
        if self.one_in(3) {
            self.declarations();
        }
        for number in 0..VIEWS.len() {
            self.view(number);
        }
        for role in self.roles.clone() {
            self.legal(role);
            self.goals(role);
        }
        self.frame();
        for _ in 0..1 + self.below(5) {
            self.next();
        }
        self.percepts();
        self.line(&format!("(<= terminal (true (step {last_step})))"));
        if self.one_in(3) {
            self.rule("terminal", Layer::Terminal, Body::default());
        }
    }

    /// `base` and `input` are redundant, and may be there.
    fn declarations(&mut self) {
        self.line("(base on) (<= (base (p ?x)) (dom ?x))");
        self.line("(<= (base (q ?x ?y)) (dom ?x) (dom ?y))");
        self.line("(<= (input ?r noop) (role ?r))");
        self.line("(<= (input ?r (mark ?x)) (role ?r) (dom ?x))");
    }

    fn ground(&mut self) -> &'static str {
        TERMS[self.below(TERMS.len())]
    }

    fn ground_fact(&mut self) -> String {
        match self.below(3) {
            0 => format!("(p {})", self.ground()),
            1 => format!("(q {} {})", self.ground(), self.ground()),
            _ => "on".to_owned(),
        }
    }

    fn view(&mut self, number: usize) {
        let (name, arity) = VIEWS[number];
        if name == "reach" && !self.one_in(3) {
            self.line("(<= (reach ?x ?y) (true (q ?x ?y)))");
            // Linear, or with itself twice.
            let rule = match self.below(2) {
                0 => "(<= (reach ?x ?z) (true (q ?x ?y)) (reach ?y ?z))",
                _ => "(<= (reach ?x ?z) (reach ?x ?y) (dom ?y) (reach ?y ?z))",
            };
            self.line(rule);
        }
        // At least one rule, for what is used must be defined.
        for _ in 0..1 + self.below(3) {
            let mut body = Body::default();
            let head = self.sentence(name, arity, &mut body.needed, true);
            let layer = if number < N_STATE_VIEWS { Layer::View(number) } else { Layer::Move };
            // Through itself: within a state, or with the moves.
            if self.one_in(3) {
                let itself = self.sentence(name, arity, &mut body.needed, false);
                body.conditions.push(itself);
            }
            self.rule(&head, layer, body);
        }
    }

    fn legal(&mut self, role: &str) {
        match self.below(4) {
            3 => self.rule(&format!("(legal {role} noop)"), Layer::Legal, Body::default()),
            _ => self.line(&format!("(legal {role} noop)")),
        }
        if !self.one_in(4) {
            self.line(&format!("(<= (legal {role} (mark ?x)) (dom ?x) (not (true (p ?x))))"));
        }
        if !self.one_in(3) {
            let view = ["(true (q ?x ?y))", "(reach ?x ?y)", "(w ?y ?x)", "(path ?x ?y)"];
            let view = view[self.below(view.len())];
            self.line(&format!("(<= (legal {role} (link ?x ?y)) (dom ?x) (dom ?y) (not {view}))"));
        }
        for _ in 0..self.below(4) {
            let mut body = Body::default();
            let moved = match self.below(3) {
                0 => self.sentence("mark", 1, &mut body.needed, true),
                1 => self.sentence("link", 2, &mut body.needed, true),
                _ => "pass".to_owned(),
            };
            self.rule(&format!("(legal {role} {moved})"), Layer::Legal, body);
        }
    }

    fn goals(&mut self, role: &str) {
        for value in [100, 50, 0, 30] {
            match self.below(5) {
                0..=2 => self.rule(&format!("(goal {role} {value})"), Layer::Goal, Body::default()),
                3 => self.line(&format!("(goal {role} {value})")),
                _ => {}
            }
        }
        // Each role has some rule for its goal.
        self.line(&format!("(<= (goal {role} 10) (not (true on)))"));
    }

    /// What moves do, and what stays, so that states differ.
    fn frame(&mut self) {
        if !self.one_in(4) {
            self.line("(<= (next (p ?x)) (does ?r (mark ?x)))");
        }
        if !self.one_in(4) {
            self.line("(<= (next (q ?x ?y)) (does ?r (link ?x ?y)))");
        }
        let mut stays = Body::default();
        for (fact, variables) in
            [("(p ?x)", &["?x"][..]), ("(q ?x ?y)", &["?x", "?y"]), ("on", &[])]
        {
            match self.below(4) {
                0 | 1 => self.line(&format!("(<= (next {fact}) (true {fact}))")),
                2 => {
                    stays.conditions = vec![format!("(true {fact})")];
                    stays.bound = variables.iter().copied().collect();
                    self.rule(&format!("(next {fact})"), Layer::Next, std::mem::take(&mut stays));
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) {
        let mut body = Body::default();
        let head = match self.below(6) {
            0 => self.sentence("p", 1, &mut body.needed, true),
            1 => self.sentence("q", 2, &mut body.needed, true),
            2 => "on".to_owned(),
            3 => {
                body.conditions.push("(true (p ?x))".to_owned());
                body.bound.insert("?x");
                "(p ?x)".to_owned()
            }
            4 => {
                let role = self.role();
                body.conditions.push(format!("(does {role} ?m)"));
                "(did ?m)".to_owned()
            }
            _ => {
                body.conditions.push("(true ?fact)".to_owned());
                "?fact".to_owned()
            }
        };
        self.rule(&format!("(next {head})"), Layer::Next, body);
    }

    fn percepts(&mut self) {
        if !self.one_in(2) {
            return;
        }
        for _ in 0..1 + self.below(3) {
            let mut body = Body::default();
            let head = self.sentence("saw", 1, &mut body.needed, true);
            let role = self.role();
            self.rule(&format!("(sees {role} {head})"), Layer::Next, body);
        }
        let (seer, mover) = (self.role(), self.role());
        let mut body = Body::default();
        body.conditions.push(format!("(does {mover} ?m)"));
        self.rule(&format!("(sees {seer} ?m)"), Layer::Next, body);
    }

    fn role(&mut self) -> &'static str {
        let role = self.below(self.roles.len());
        self.roles[role]
    }

    /// A name with arguments. In heads `(f ?w)` is built from such a term only.
    fn sentence(
        &mut self,
        name: &str,
        arity: usize,
        used: &mut BTreeSet<&'static str>,
        is_head: bool,
    ) -> String {
        if arity == 0 {
            return name.to_owned();
        }
        let arguments: Vec<&str> = (0..arity).map(|_| self.argument(used, is_head)).collect();
        format!("({name} {})", arguments.join(" "))
    }

    fn argument(&mut self, used: &mut BTreeSet<&'static str>, is_head: bool) -> &'static str {
        match self.below(if is_head { 10 } else { 8 }) {
            0..6 => {
                let variable = VARIABLES[self.below(VARIABLES.len())];
                used.insert(variable);
                variable
            }
            6 => self.ground(),
            _ => {
                used.insert("?w");
                "(f ?w)"
            }
        }
    }

    /// Writes a rule, with some more conditions.
    fn rule(&mut self, head: &str, layer: Layer, mut body: Body) {
        for _ in 0..1 + self.below(2) {
            self.condition(layer, &mut body);
        }
        // Whatever has no value yet gets one, before or after the rest.
        for variable in body.needed.difference(&body.bound) {
            let bound =
                if *variable == "?w" { "(dom (f ?w))" } else { &format!("(dom {variable})") };
            body.conditions.push(bound.to_owned());
        }
        if self.one_in(2) {
            body.conditions.reverse();
        }
        self.line(&format!("(<= {head} {})", body.conditions.join(" ")));
    }

    fn condition(&mut self, layer: Layer, body: &mut Body) {
        let condition = match self.below(6) {
            0..3 => {
                let mut used = BTreeSet::new();
                let atom = self.atom(layer, &mut used);
                body.bound.extend(&used);
                atom
            }
            3 => format!("(not {})", self.atom(layer, &mut body.needed)),
            4 => {
                let left = self.argument(&mut body.needed, false);
                let right = self.argument(&mut body.needed, false);
                format!("(distinct {left} {right})")
            }
            _ => {
                let mut branches = Vec::new();
                for _ in 0..2 + self.below(2) {
                    let atom = self.atom(layer, &mut body.needed);
                    let is_negated = self.one_in(3);
                    branches.push(if is_negated { format!("(not {atom})") } else { atom });
                }
                format!("(or {})", branches.join(" "))
            }
        };
        body.conditions.push(condition);
    }

    /// A sentence that rules of this layer may rest on.
    fn atom(&mut self, layer: Layer, used: &mut BTreeSet<&'static str>) -> String {
        let has_moves = matches!(layer, Layer::Move | Layer::Next);
        match self.below(if has_moves { 13 } else { 10 }) {
            0 | 7 => format!("(true {})", self.sentence("p", 1, used, false)),
            1 | 8 => format!("(true {})", self.sentence("q", 2, used, false)),
            2 => "(true on)".to_owned(),
            3 => {
                let name = ["edge", "path"][self.below(2)];
                self.sentence(name, 2, used, false)
            }
            4 => self.of_layer(layer, used),
            5 | 6 | 9 => {
                let n_views = match layer {
                    Layer::View(number) => number,
                    Layer::Legal | Layer::Terminal | Layer::Goal | Layer::Move => N_STATE_VIEWS,
                    Layer::Next => VIEWS.len(),
                };
                if n_views == 0 {
                    return self.sentence("dom", 1, used, false);
                }
                let (name, arity) = VIEWS[self.below(n_views)];
                self.sentence(name, arity, used, false)
            }
            10 => format!("(does {} {})", self.role(), self.sentence("mark", 1, used, false)),
            11 => format!("(does {} {})", self.role(), self.sentence("link", 2, used, false)),
            _ => format!("(does {} noop)", self.role()),
        }
    }

    /// What only some layers may rest on.
    fn of_layer(&mut self, layer: Layer, used: &mut BTreeSet<&'static str>) -> String {
        match layer {
            Layer::Goal if self.one_in(2) => "terminal".to_owned(),
            Layer::Goal | Layer::Terminal => format!("(legal {} noop)", self.role()),
            Layer::Move | Layer::Next => "(true (did noop))".to_owned(),
            Layer::View(_) | Layer::Legal => self.sentence("dom", 1, used, false),
        }
    }
}
