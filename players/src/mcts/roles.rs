//! The roles of a game as the search sees them.

/// What a search knows of the game's roles.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    /// The index of chance.
    pub(super) chance: Option<usize>,
    /// The roles but chance.
    pub(super) strategic: Vec<usize>,
    /// Two roles whose rewards had the same sum wherever they were seen.
    pub(super) opposed: bool,
    /// Opposed roles that choose at the same time draw their moves from mixed strategies.
    pub(super) mix: bool,
    /// That sum.
    pub(super) sum: Option<u64>,
}

impl Roles {
    /// The roles of a game; `mix` as [in the roles](Self::mix).
    pub(super) fn new(game: &games::Game, mix: bool) -> Self {
        let chance = game.random().map(|role| usize::from(role.0));
        let strategic: Vec<usize> =
            (0..game.roles().len()).filter(|&role| Some(role) != chance).collect();
        Self { chance, opposed: strategic.len() == 2, strategic, mix, sum: None }
    }

    /// Notes the sum of two opposed roles' rewards in `n` terminal states. `false` if it
    /// shows that they are not opposed, which no bound so far has taken into account.
    pub(super) fn is_opposed(&mut self, n: u64, rewards: impl Fn(usize) -> u64) -> bool {
        if !self.opposed || n == 0 {
            return true;
        }
        let total: u64 = self.strategic.iter().map(|&role| rewards(role)).sum();
        let sum = *self.sum.get_or_insert(total / n);
        self.opposed = sum * n == total;
        self.opposed
    }
}
