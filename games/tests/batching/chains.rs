//! A game in which much follows from the number of steps.

/// Two roles put stones on a square board. Adjacent stones of a role form a chain, and each chain
/// has the number of the step at which it was last joined. Who connects opposite sides wins.
pub(crate) fn chains(size: usize) -> String {
    let mut rules = String::from(
        "(role a) (role b) (init (turn a)) (init (step 1))
        (<= (legal ?r (put ?c)) (true (turn ?r)) (cell ?c) (not (taken ?c)))
        (<= (legal a wait) (true (turn b))) (<= (legal b wait) (true (turn a)))
        (<= (taken ?c) (true (stone ?c)))
        (<= (next (stone ?c)) (does ?r (put ?c))) (<= (next (stone ?c)) (true (stone ?c)))
        (<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
        (<= (next (step ?m)) (true (step ?n)) (follows ?n ?m))
        (<= (next (owner ?k ?r)) (true (step ?k)) (true (turn ?r)))
        (<= (next (owner ?k ?r)) (true (owner ?k ?r)))
        (<= (joins ?k) (does ?r (put ?c)) (true (owner ?k ?r)) (true (chain ?k ?d)) (next_to ?c ?d))
        (<= (next (chain ?k ?c)) (does ?r (put ?c)) (true (step ?k)))
        (<= (next (chain ?k ?c)) (true (chain ?j ?c)) (joins ?j) (true (step ?k)))
        (<= (next (chain ?k ?c)) (true (chain ?k ?c)) (not (joins ?k)))
        (<= (won a) (true (owner ?k a))
            (true (chain ?k ?c)) (true (chain ?k ?d)) (left ?c) (right ?d))
        (<= (won b) (true (owner ?k b))
            (true (chain ?k ?c)) (true (chain ?k ?d)) (top ?c) (bottom ?d))
        (<= terminal (won ?r)) (<= terminal (true (step last)))
        (<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (role ?r) (not (won ?r)))\n",
    );
    let n_cells = size * size;
    for cell in 0..n_cells {
        let (row, column) = (cell / size, cell % size);
        rules += &format!("(cell {cell})");
        let step = |n: usize| if n > n_cells { "last".to_owned() } else { n.to_string() };
        rules += &format!("(follows {} {})", step(cell + 1), step(cell + 2));
        let sides = [("top", row), ("left", column)];
        sides
            .iter()
            .filter(|side| side.1 == 0)
            .for_each(|side| rules += &format!("({} {cell})", side.0));
        let sides = [("bottom", row), ("right", column)];
        sides
            .iter()
            .filter(|side| side.1 + 1 == size)
            .for_each(|side| rules += &format!("({} {cell})", side.0));
        let right = (column + 1 < size).then_some(cell + 1);
        for other in right.into_iter().chain((row + 1 < size).then_some(cell + size)) {
            rules += &format!("(next_to {cell} {other})(next_to {other} {cell})");
        }
    }
    rules
}
